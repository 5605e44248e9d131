/** The milliseconds of a frame by the configuration of its packet (RFC 6716, table 2). */
const frameMilliseconds = (configuration: number): number =>
  configuration < 12
    ? ([10, 20, 40, 60][configuration & 3] ?? 0)
    : configuration < 16
      ? ([10, 20][configuration & 1] ?? 0)
      : 2.5 * 2 ** (configuration & 3)

/** The most that a packet may hold. */
const MAX_PACKET_MILLISECONDS = 120

/**
 * The milliseconds of each packet by its first byte: for the codes 0 to 2 of the whole packet, and
 * for code 3 of one frame, since the number of frames is in the next byte.
 */
const millisecondsByHead = Float64Array.from(
  { length: 256 },
  (_, head) => frameMilliseconds(head >> 3) * ((head & 3) === 1 || (head & 3) === 2 ? 2 : 1)
)

/** The milliseconds of the Opus packet at an offset, by its first two bytes (RFC 6716, 3.1). */
export const opusMillisecondsAt = (bytes: Uint8Array, at: number): number => {
  const head = bytes[at]
  if (head === undefined) return 0
  const milliseconds = millisecondsByHead[head] ?? 0
  if ((head & 3) !== 3) return milliseconds
  return Math.min(milliseconds * ((bytes[at + 1] ?? 0) & 63), MAX_PACKET_MILLISECONDS)
}
