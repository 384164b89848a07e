/** Bytes after Brotli. */
export interface Sizes {
  standalone: number;
  standaloneGzip: number;
  vite: number;
  esbuild: number;
  pay: number;
  balance: number;
  parts: Record<string, number>;
  features: Record<string, number>;
  languages: Record<string, number>;
}

/** Returns all sizes. The package must be built. */
export function widgetSizes(): Promise<Sizes>;

/** Records the sizes in `test/sizes.json` and `docs/performance.md`. */
export function recordSizes(): Promise<void>;
