/**
 * Property names that become one letter in the standalone file. Names that a page, the shop's JSON or the browser uses
 * must not be in this list, nor those of Lit.
 */
const names = `calls clear clearPin entry fail fetchQuote frame fromNow isAnswered isApplied isBlank isClosed isCovered
  isFieldsetDisabled isFormWaiting isFull isLocked isPlaceholder isRemoving loadedAt locale mayCall missing money notice
  onChange readEntry removing reset run say secondsLeft settled show spoken stop takesCard tell texts
  waitSeconds words`;

export const innerNames = new RegExp(`^(?:${names.split(/\s+/).join("|")})$`);
