/** Converts a parameter in milliseconds to an interval. @param param such as `$1` */
export const sqlInterval = (param: string) => `(${param}::float8 * interval '1 millisecond')`;
