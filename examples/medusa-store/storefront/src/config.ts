/** The shop's address. It is read when the page loads, so that one build works in every environment. */
export interface Config {
  backendUrl: string;
  publishableKey: string;
}

/** @throws if /config.json is missing or incomplete */
export async function loadConfig(): Promise<Config> {
  const response = await fetch("/config.json");
  if (!response.ok) throw new Error("/config.json is missing: see the README.");
  const { backendUrl, publishableKey } = (await response.json()) as Partial<Config>;
  if (!backendUrl || !publishableKey) throw new Error("/config.json needs backendUrl and publishableKey.");
  return { backendUrl, publishableKey };
}
