import type { Pages } from "./handler.js";

const utf8 = new TextEncoder();

/** What becomes of a list on its way. */
interface ListHooks<Row> {
  /** A page as the wire has it: a JSON array. */
  readonly encode: (rows: Row[]) => string;
  /** It can't go on: the answer has begun, so only its connection can say so. */
  readonly failed: (error: unknown) => void;
  /** It is over, whichever way. */
  readonly ended: () => void;
}

/** A long list as one JSON array. A page is read when its reader has taken the one before. */
export function listBody<Row>(
  { pages, release }: Pages<Row>,
  { encode, failed, ended }: ListHooks<Row>,
): ReadableStream<Uint8Array> {
  let separator = "[";
  let isOver = false;
  const end = () => {
    if (isOver) return;
    isOver = true;
    release();
    ended();
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await pages.next();
          if (isOver) return;
          controller.enqueue(utf8.encode(done ? "]" : `${separator}${encode(value).slice(1, -1)}`));
          separator = ",";
          if (!done) return;
          controller.close();
          end();
        } catch (error) {
          failed(error);
          end();
        }
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  );
}
