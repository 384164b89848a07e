export function readmeFromManifest(): Promise<{ before: string; after: string }>;

export function writeReadme(): Promise<void>;
