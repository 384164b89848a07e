import type { StreamedBody } from "./answer.js";
import type { Pages } from "./handler.js";

/** Callbacks while a list is sent. */
interface ListHooks<Row> {
  /** Encodes a page as a JSON array. */
  readonly encode: (rows: Row[]) => string;
  /** Called if reading fails. The answer has begun, so only closing the connection can tell the caller. */
  readonly failed: (error: unknown) => void;
}

/** Streams a long list as one JSON array. Reads each page when the caller has received the one before. */
export const listBody = <Row>(list: Pages<Row>, hooks: ListHooks<Row>): StreamedBody => ({
  pieces: piecesOf(list, hooks),
  ended: list.release,
});

async function* piecesOf<Row>({ pages }: Pages<Row>, { encode, failed }: ListHooks<Row>): AsyncGenerator<string> {
  let separator = "[";
  try {
    for (;;) {
      const { done, value } = await pages.next();
      if (done) break;
      yield separator + encode(value).slice(1, -1);
      separator = ",";
    }
  } catch (error) {
    failed(error);
    throw error;
  }
  yield "]";
}
