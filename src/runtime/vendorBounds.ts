/** Limits of a vendor's time for an order and of the size of its answer. */
import type { Settings } from "./Settings.ts"

/** A vendor must have answered, or be given up, well before the sweep gives up the hold. */
export const SHARE_OF_DEADLINE = 0.75

/** The longest that a text may take that is answered whole. */
const WHOLE_TEXT_SECONDS = 675

/** Seconds that the vendor of a text has, where it is answered whole. */
export const wholeTextSeconds = ({
  textDeadlineSeconds
}: Pick<Settings, "textDeadlineSeconds">): number =>
  Math.min(WHOLE_TEXT_SECONDS, textDeadlineSeconds * SHARE_OF_DEADLINE)

/** Non-Latin characters take six bytes as JSON escapes and three in UTF-8. */
const ESCAPE_FACTOR = 2
/** Bytes of an answer beside the order that it repeats. */
const FRAME_BYTES = 1024 * 1024

/** The most bytes that a repetition of the order adds to a vendor's answer. */
export const echoBytes = ({ maxMediaBodyBytes }: Pick<Settings, "maxMediaBodyBytes">): number =>
  ESCAPE_FACTOR * maxMediaBodyBytes + FRAME_BYTES
