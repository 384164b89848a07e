/**
 * Property names that become one letter in the standalone file. Names that a page, the shop's JSON or the browser uses
 * must not be in this list.
 */
const ours = `address after attach between block calls clear clearPin duration entry fail fetchQuote frame internals
  isAnswered isApplied isBlank isClosed isCovered isFieldsetDisabled isFree isFull isLocked isPlaceholder isRemoving
  isWaiting link live load locale missing money notice onTick readEntry removing reset run say seconds settled
  shop show start stop takesAnother takesCard texts waitSeconds waiting words`;
const lits = `_\\$\\w+ attribute converter createProperty createRenderRoot creationScope ctor element elementStyles
  enableUpdating endNode finalize finalizeStyles firstUpdated fromAttribute getPropertyDescriptor getPropertyOptions
  getUpdateComplete hasChanged host hostConnected hostDisconnected hostUpdate hostUpdated isUpdatePending noAccessor
  options parts performUpdate reflect render renderBefore renderOptions scheduleUpdate setConnected shadowRootOptions
  shouldUpdate startNode strings styles toAttribute updated useDefault willUpdate wrapped`;

export const innerNames = new RegExp(`^(?:${`${ours} ${lits}`.split(/\s+/).join("|")})$`);
