/** Returns times in milliseconds, and ratios to a bare Lit element. The widget must be built. */
export function widgetBench(): Promise<Record<string, number>>;
