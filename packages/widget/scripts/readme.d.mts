export function readmeFromManifest(): Promise<{ before: string; after: string }>;
