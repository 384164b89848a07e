/**
 * Property names that get one letter in the standalone file: those that neither a page, nor the shop, nor the browser
 * ever says. What a page may use of the elements, texts and events isn't here.
 */
const ours = `address after attach between calls clear clearPin duration entry fail fetchQuote frame internals
  isAnswered isApplied isBlank isClosed isCovered isFree isFull isWaiting live load locale missing money notice onTick refuse removing reset run say seconds settled
  shop show shut start stop take takesAnother takesCard texts unsure waitSeconds waiting words`;
const lits = `_\\$\\w+ attribute converter createProperty createRenderRoot creationScope ctor element elementStyles
  enableUpdating endNode finalize finalizeStyles firstUpdated fromAttribute getPropertyDescriptor getPropertyOptions
  getUpdateComplete hasChanged host hostConnected hostDisconnected hostUpdate hostUpdated isUpdatePending noAccessor
  options parts performUpdate reflect render renderBefore renderOptions scheduleUpdate setConnected shadowRootOptions
  shouldUpdate startNode strings styles toAttribute updated useDefault willUpdate wrapped`;

export const innerNames = new RegExp(`^(?:${`${ours} ${lits}`.split(/\s+/).join("|")})$`);
