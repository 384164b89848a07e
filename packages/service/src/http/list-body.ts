import type { StreamedBody } from "./answer.js";
import type { Pages } from "./handler.js";

/** What becomes of a list on its way. */
interface ListHooks<Row> {
  /** A page as the wire has it: a JSON array. */
  readonly encode: (rows: Row[]) => string;
  /** It can't go on: the answer has begun, so only its connection can say so. */
  readonly failed: (error: unknown) => void;
}

/** A long list as one JSON array. A page is read when its reader has taken the one before. */
export const listBody = <Row>(list: Pages<Row>, hooks: ListHooks<Row>): StreamedBody => ({
  pieces: piecesOf(list, hooks),
  ended: list.release,
});

async function* piecesOf<Row>(
  { pages }: Pages<Row>,
  { encode, failed }: ListHooks<Row>,
): AsyncGenerator<string> {
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
