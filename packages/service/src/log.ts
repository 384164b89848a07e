/** What went wrong in a call. Of the error only its kind and place are written: a message may hold anything. */
export interface Failure {
  readonly requestId: string | undefined;
  readonly endpoint: string | undefined;
  readonly error: unknown;
}

/** Where the service writes down what happens to it. */
export interface Log {
  failure(failure: Failure): void;
}

/** Writes each failure as one line of JSON. */
export function lineLog(write: (line: string) => void): Log {
  return {
    failure({ requestId, endpoint, error }) {
      const { name, code, stack } =
        error instanceof Error
          ? (error as Error & { code?: unknown })
          : ({} as Partial<Error & { code: unknown }>);
      const frames = stack
        ?.split("\n")
        .filter((line) => /^\s+at /.test(line))
        .map((line) => line.trim());
      const time = new Date().toISOString();
      write(
        JSON.stringify({
          level: "error",
          time,
          requestId,
          endpoint,
          name,
          code: typeof code === "string" ? code : undefined,
          frames,
        }),
      );
    },
  };
}
