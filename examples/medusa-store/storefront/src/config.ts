/** Where the shop is. Read when the page loads, so that one build serves every environment. */
export interface Config {
  backendUrl: string;
  publishableKey: string;
}

/** @throws when /config.json is missing or incomplete */
export async function loadConfig(): Promise<Config> {
  const response = await fetch("/config.json");
  if (!response.ok) throw new Error("/config.json is missing: see the README.");
  const { backendUrl, publishableKey } = (await response.json()) as Partial<Config>;
  if (!backendUrl || !publishableKey) throw new Error("/config.json needs backendUrl and publishableKey.");
  return { backendUrl, publishableKey };
}
