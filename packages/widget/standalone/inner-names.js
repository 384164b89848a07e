/**
 * Property names that become one letter in the standalone file. Names that a page, the shop's JSON or the browser uses
 * must not be in this list, nor those of Lit.
 */
const names = `agree announce calls clear clearPin entry fail fetchQuote frame fromNow isAnswered isApplied isBlank isClosed isCovered
  isFieldsetDisabled isFull isLocked isPlaceholder isEdited isRemoving isSettling loadedAt locale mayCall missing money mustWait notice
  onChange readEntry reason removing reset run say secondsLeft settled show spoken stop takesCard texts
  waitSeconds words`;

export const innerNames = new RegExp(`^(?:${names.split(/\s+/).join("|")})$`);
