/** Times in milliseconds and the ratios that count. The widget must be built. */
export function widgetBench(): Promise<Record<string, number>>;
