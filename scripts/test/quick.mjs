/** The money core: the files that `npm test -- quick` runs. A few seconds each, and no Medusa. @type {string[]} */
export const quick = [];
