/** Video files made by hand, among them some that claim what no file can hold. */

/** A whole number in so many bytes, the highest first. */
export const bigEndian = (value: number, width: number): Buffer => {
  const bytes = Buffer.alloc(width)
  bytes.writeUIntBE(value, 0, width)
  return bytes
}

export const words = (...values: ReadonlyArray<number>): Buffer =>
  Buffer.concat(values.map((value) => bigEndian(value, 4)))

/** A box of MP4. */
export const box = (type: string, ...parts: ReadonlyArray<Uint8Array>): Buffer => {
  const body = Buffer.concat(parts)
  return Buffer.concat([words(8 + body.length), Buffer.from(type, "latin1"), body])
}

export const brand = box("ftyp", Buffer.from("isom"), words(0))

export const inline = (bytes: Uint8Array, type = "video/mp4"): string =>
  `data:${type};base64,${Buffer.from(bytes).toString("base64")}`

/** Files of some hundred bytes that claim as many frames as a number can say. */
export const endless = {
  table: Buffer.concat([
    brand,
    box(
      "moov",
      box("trak", box("mdia", box("minf", box("stbl", box("stsz", words(0, 1, 0xffffffff))))))
    )
  ]),
  fragment: Buffer.concat([
    brand,
    box(
      "moov",
      box(
        "trak",
        box("tkhd", words(0, 0, 0, 1)),
        box("mdia", box("mdhd", words(0, 0, 0, 1000, 0)))
      ),
      box("mvex", box("trex", words(0, 1, 1, 1, 0, 0)))
    ),
    box("moof", box("traf", box("tfhd", words(0, 1)), box("trun", words(0, 0xffffffff))))
  ])
}
