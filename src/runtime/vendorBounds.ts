/** How long a vendor may take for an order, and how large its answer may be: what no order may pass. */
import type { Settings } from "./Settings.ts"

/** A vendor must have answered, or be given up, well before the sweep gives up the hold. */
export const SHARE_OF_DEADLINE = 0.75

/** The longest that a text may take that comes whole. */
const WHOLE_TEXT_SECONDS = 675

/** Seconds that the vendor of a text has, which comes whole. */
export const wholeTextSeconds = ({
  textDeadlineSeconds
}: Pick<Settings, "textDeadlineSeconds">): number =>
  Math.min(WHOLE_TEXT_SECONDS, textDeadlineSeconds * SHARE_OF_DEADLINE)

/** Characters of another alphabet are six bytes as escapes and three in UTF-8. */
const ESCAPED_TIMES = 2
/** What stands beside an order that is repeated. */
const FRAME_BYTES = 1024 * 1024

/** Bytes by which an answer may be longer because the vendor repeats the order in it. */
export const echoBytes = ({ maxMediaBodyBytes }: Pick<Settings, "maxMediaBodyBytes">): number =>
  ESCAPED_TIMES * maxMediaBodyBytes + FRAME_BYTES
