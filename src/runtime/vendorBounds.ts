/** The limits of a vendor's time for an order and of the size of its answer. */
import type { Settings } from "./Settings.ts"

/**
 * The vendor's share of an order's deadline: the call must have ended well before the sweep
 * releases the hold.
 */
export const SHARE_OF_DEADLINE = 0.75

/** The maximum time-out of a text without streaming. */
const WHOLE_TEXT_SECONDS = 675

/** The vendor's time-out, in seconds, for a text without streaming. */
export const wholeTextSeconds = ({
  textDeadlineSeconds
}: Pick<Settings, "textDeadlineSeconds">): number =>
  Math.min(WHOLE_TEXT_SECONDS, textDeadlineSeconds * SHARE_OF_DEADLINE)

/**
 * The maximum factor by which a text of the order grows when a vendor repeats it: non-Latin
 * characters take six bytes as JSON escapes and three in UTF-8.
 */
const ESCAPE_FACTOR = 2
/** The maximum number of bytes of an answer outside the repeated order. */
const FRAME_BYTES = 1024 * 1024

/** The maximum number of bytes that a repetition of the order adds to a vendor's answer. */
export const echoBytes = ({ maxMediaBodyBytes }: Pick<Settings, "maxMediaBodyBytes">): number =>
  ESCAPE_FACTOR * maxMediaBodyBytes + FRAME_BYTES
