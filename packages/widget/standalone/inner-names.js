/**
 * Property names that become one letter in the standalone file. Names that a page, the shop's JSON or the browser uses
 * must not be in this list, nor those of Lit.
 */
const names = `address after attach between block calls clear clearPin duration entry fail fetchQuote frame internals
  isAnswered isApplied isBlank isClosed isCovered isFieldsetDisabled isFree isFull isLocked isPlaceholder isRemoving
  isWaiting link live load locale missing money notice onTick readEntry removing reset run say seconds settled
  shop show start stop takesCard texts waitSeconds waiting words`;

export const innerNames = new RegExp(`^(?:${names.split(/\s+/).join("|")})$`);
