/** Makes Ogg files (RFC 3533) of silence in Opus (RFC 7845). */

const samplesPerMillisecond = 48

/** A packet of 20 milliseconds of silence, mono (RFC 6716). */
const silence = Buffer.from([0xf8, 0xff, 0xfe])
const packetSamples = 20 * samplesPerMillisecond

/** The samples at the start that a decoder needs to settle, and does not play. */
const skippedSamples = 312

const packetsPerPage = 50
const serial = 1

/** The flags of a stream's first and last page. */
const IS_FIRST = 2
const IS_LAST = 4

const checksums = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte << 24
  for (let bit = 0; bit < 8; bit++) rest = rest & 0x80000000 ? (rest << 1) ^ 0x04c11db7 : rest << 1
  return rest
})

const checksumOf = (bytes: Uint8Array): number => {
  let rest = 0
  for (const byte of bytes) rest = ((rest << 8) ^ (checksums[(rest >>> 24) ^ byte] ?? 0)) >>> 0
  return rest
}

/** A page of packets that are shorter than 255 bytes. */
const pageOf = (
  number: number,
  flags: number,
  position: number,
  packets: ReadonlyArray<Uint8Array>
): Buffer => {
  const head = Buffer.alloc(27)
  head.write("OggS", 0, "latin1")
  head[5] = flags
  head.writeBigUInt64LE(BigInt(position), 6)
  head.writeUInt32LE(serial, 14)
  head.writeUInt32LE(number, 18)
  head[26] = packets.length
  const page = Buffer.concat([head, Buffer.from(packets.map(({ length }) => length)), ...packets])
  page.writeUInt32LE(checksumOf(page), 22)
  return page
}

/** The identification: version 1, mono, the skipped samples, and 24 kHz before it was encoded. */
const identification = Buffer.concat([Buffer.from("OpusHead\x01\x01", "latin1"), Buffer.alloc(9)])
identification.writeUInt16LE(skippedSamples, 10)
identification.writeUInt32LE(24_000, 12)

/** The comments: the name of the encoder, of 9 bytes, and nothing else. */
const comments = Buffer.from("OpusTags\x09\0\0\0simulator\0\0\0\0", "latin1")

/** Silence of exactly the given length: the last page states where in its last packet it ends. */
export const makeOggOpus = (milliseconds: number): Buffer => {
  const end = skippedSamples + Math.round(milliseconds * samplesPerMillisecond)
  const packets = Math.ceil(end / packetSamples)
  const pages = [pageOf(0, IS_FIRST, 0, [identification]), pageOf(1, 0, 0, [comments])]
  for (let done = 0; done < packets; done += packetsPerPage) {
    const count = Math.min(packetsPerPage, packets - done)
    const isLast = done + count === packets
    const position = Math.min((done + count) * packetSamples, end)
    const content = Array.from({ length: count }, () => silence)
    pages.push(pageOf(pages.length, isLast ? IS_LAST : 0, position, content))
  }
  return Buffer.concat(pages)
}
