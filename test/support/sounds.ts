/**
 * Sound files made by hand, of valid structure and without real sound in them, whose headers may
 * declare another length than that of their content.
 */
import { makeSound } from "../../src/simulator/media/sound.ts"
import { bigEndian, box, words } from "./videoFiles.ts"

/** What the headers of a file declare, compared with what the file holds. */
export const lies = ["none", "nothing", "less", "more", "absurd"] as const
type Lie = (typeof lies)[number]

/** What to make: `variant` is a whole number from 0 whose bits choose between forms of the format. */
export interface SoundOrder {
  readonly milliseconds: number
  readonly lie: Lie
  readonly variant: number
}

interface SoundFile {
  readonly bytes: Buffer
  /** The exact length of the content, within a few frames of the ordered one. */
  readonly milliseconds: number
  /** The length of what is left if the file is cut to a size in bytes. */
  readonly millisecondsIn: (sizeBytes: number) => number
}

const hasBit = (variant: number, bit: number): boolean => (variant >> bit) % 2 === 1

const declaredUnits = (units: number, lie: Lie, absurd = 2 ** 32 - 2): number =>
  ({ none: units, nothing: 0, less: Math.floor(units / 10), more: units * 3, absurd })[lie]

const latin = (text: string): Buffer => Buffer.from(text, "latin1")

const littleEndian = (value: number, width: number): Buffer => bigEndian(value, width).reverse()

/** A file of parts, of which each may hold sound that needs all bytes up to its end. */
const fileOf = (
  parts: ReadonlyArray<readonly [bytes: Buffer, milliseconds: number]>
): SoundFile => {
  let size = 0
  let milliseconds = 0
  const marks = parts.map(([bytes, length]) => {
    size += bytes.length
    milliseconds += length
    return { size, milliseconds }
  })
  return {
    bytes: Buffer.concat(parts.map(([bytes]) => bytes)),
    milliseconds,
    millisecondsIn: (sizeBytes) =>
      marks.findLast((mark) => mark.size <= sizeBytes)?.milliseconds ?? 0
  }
}

const waveChunk = (id: string, body: Buffer, size = body.length): Buffer =>
  Buffer.concat([latin(id), littleEndian(size, 4), body, Buffer.alloc(body.length % 2)])

const waveFormat = (byteRate: number, sampleRate: number, isExtensible: boolean): Buffer =>
  Buffer.concat([
    littleEndian(isExtensible ? 0xfffe : 1, 2),
    littleEndian(1, 2),
    littleEndian(sampleRate, 4),
    littleEndian(byteRate, 4),
    littleEndian(2, 2),
    littleEndian(16, 2),
    isExtensible ? Buffer.alloc(24, 22) : Buffer.alloc(0)
  ])

/** WAVE: extensible or not, with a list in front or behind, or with 64-bit sizes. */
const makeWav = ({ milliseconds, lie, variant }: SoundOrder): SoundFile => {
  const sampleRate = hasBit(variant, 0) ? 8000 : 44_100
  const byteRate = sampleRate * 2
  const data = Buffer.alloc(Math.round((sampleRate * milliseconds) / 1000) * 2, "\x01\xff\x02\x80")
  const isLong = hasBit(variant, 1)
  const size = declaredUnits(data.length, lie, 0xffffffff)
  const statedRate = lie === "less" ? byteRate * 10 : byteRate
  const format = waveChunk("fmt ", waveFormat(statedRate, sampleRate, hasBit(variant, 2)))
  const list = waveChunk("LIST", latin("INFOISFT\x05\0\0\0odd"))
  const longSizes = Buffer.alloc(28)
  longSizes.writeUIntLE(size, 8, 6)
  const head = Buffer.concat([
    latin(isLong ? "RF64" : "RIFF"),
    littleEndian(0xffffffff, 4),
    latin("WAVE"),
    isLong ? waveChunk("ds64", longSizes) : Buffer.alloc(0),
    hasBit(variant, 3) ? Buffer.concat([list, format]) : format,
    latin("data"),
    littleEndian(isLong ? 0xffffffff : size, 4)
  ])
  return {
    bytes: Buffer.concat([head, data, hasBit(variant, 4) ? list : Buffer.alloc(0)]),
    milliseconds: (data.length * 1000) / byteRate,
    millisecondsIn: (sizeBytes) =>
      (Math.min(Math.max(sizeBytes - head.length, 0), data.length) * 1000) / byteRate
  }
}

/** The frames of MP3 by version: the second byte of a head, and the bytes of bit rates 1 to 3. */
const mpegVersions = [
  { head: 0xfb, sampleRate: 44_100, samples: 1152, bytes: [104, 130, 156], sideBytes: 17 },
  { head: 0xf3, sampleRate: 22_050, samples: 576, bytes: [26, 52, 78], sideBytes: 9 },
  { head: 0xe3, sampleRate: 11_025, samples: 576, bytes: [52, 104, 156], sideBytes: 9 }
] as const

/** MP3 of all versions: with a tag in front or behind, a header, garbage between frames. */
const makeMp3 = ({ milliseconds, lie, variant }: SoundOrder): SoundFile => {
  const version = mpegVersions[(variant >> 3) % 3] ?? mpegVersions[0]
  const frameMilliseconds = (version.samples * 1000) / version.sampleRate
  const count = Math.ceil(milliseconds / frameMilliseconds)
  const frame = (rate: number): Buffer => {
    const bytes = Buffer.alloc(version.bytes[rate] ?? 0)
    bytes.set([0xff, version.head, (rate + 1) << 4, 0xc4])
    return bytes
  }
  const header = frame(2)
  header.write("Xing", 4 + version.sideBytes, "latin1")
  header.writeUInt32BE(1, 8 + version.sideBytes)
  header.writeUInt32BE(declaredUnits(count, lie), 12 + version.sideBytes)
  const tag = Buffer.concat([latin("ID3\x04\0\0\0\0\x02\0"), Buffer.alloc(256, 0x41)])
  const isDirty = hasBit(variant, 2)
  return fileOf([
    [hasBit(variant, 0) ? tag : Buffer.alloc(0), 0],
    [lie === "none" && hasBit(variant, 1) ? Buffer.alloc(0) : header, 0],
    ...Array.from({ length: count }, (_, index) => {
      const bytes = frame((index * 7 + variant) % 3)
      const dirt = isDirty && index % 50 === 40 ? latin("\xff garbage \xff") : Buffer.alloc(0)
      return [Buffer.concat([dirt, bytes]), frameMilliseconds] as const
    }),
    [Buffer.concat([latin("TAG"), Buffer.alloc(125, 0x20)]), 0]
  ])
}

const aacRate = 44_100
const aacFrameMilliseconds = (1024 * 1000) / aacRate

/** The description of AAC LC at 44.1 kHz, mono. */
const aacDescription = box(
  "stsd",
  words(0, 1),
  box(
    "mp4a",
    Buffer.alloc(28),
    box(
      "esds",
      words(0),
      Buffer.from([3, 22, 0, 1, 0, 4, 17, 0x40, 0x15, ...Buffer.alloc(11), 5, 2, 0x12, 0x08])
    )
  )
)

const movie = (units: number, tables: ReadonlyArray<Buffer>, ...behind: ReadonlyArray<Buffer>) =>
  box(
    "moov",
    box("mvhd", words(0, 0, 0, aacRate, units), Buffer.alloc(80)),
    box(
      "trak",
      box("tkhd", words(0, 0, 0, 1, 0, 0)),
      box(
        "mdia",
        box("mdhd", words(0, 0, 0, aacRate, units, 0)),
        box("minf", box("stbl", aacDescription, ...tables))
      )
    ),
    ...behind
  )

const aacFrame = Buffer.alloc(180, 0x21)

const fragmentFrames = 40

/** A fragment whose frames have their own lengths, or that of the fragment. */
const fragmentOf = (frames: number, units: number, isListed: boolean): Buffer =>
  Buffer.concat([
    box(
      "moof",
      box("mfhd", words(0, 1)),
      box(
        "traf",
        isListed ? box("tfhd", words(0, 1)) : box("tfhd", words(8, 1, units)),
        isListed
          ? box("trun", words(0x100, frames), ...Array.from({ length: frames }, () => words(units)))
          : box("trun", words(1, frames, 0))
      )
    ),
    box("mdat", ...Array.from({ length: frames }, () => aacFrame))
  ])

const firstBox = box("ftyp", latin("M4A "), words(0))

/** MP4: the movie in front, behind, or with fragments; low tables too if the headers are low. */
const makeM4a = ({ milliseconds, lie, variant }: SoundOrder): SoundFile => {
  const count = Math.ceil(milliseconds / aacFrameMilliseconds)
  const declared = declaredUnits(count * 1024, lie)
  const frameUnits = lie === "less" ? 100 : 1024
  if (hasBit(variant, 0)) {
    const frames = Math.ceil(count / fragmentFrames)
    const parts = Array.from({ length: frames }, (_, index) => {
      const length = Math.min(fragmentFrames, count - index * fragmentFrames)
      const bytes = fragmentOf(length, frameUnits, hasBit(variant, 1))
      return [bytes, length * aacFrameMilliseconds] as const
    })
    const defaults = box("mvex", box("trex", words(0, 1, 1, 1024, 0, 0)))
    const units = lie === "none" ? 0 : declared
    return fileOf([[Buffer.concat([firstBox, movie(units, [], defaults)]), 0], ...parts])
  }
  const head = movie(declared, [box("stts", words(0, 1, count, frameUnits))])
  const frames = Array.from({ length: count }, () => aacFrame)
  if (hasBit(variant, 1))
    return fileOf([
      [Buffer.concat([firstBox, box("mdat", ...frames)]), 0],
      [head, count * aacFrameMilliseconds]
    ])
  return fileOf([
    [Buffer.concat([firstBox, head, words(8 + 180 * count), latin("mdat")]), 0],
    ...frames.map((frame) => [frame, aacFrameMilliseconds] as const)
  ])
}

/** A page of Ogg without a checksum. */
const page = (serial: number, flags: number, position: number, packets: ReadonlyArray<Buffer>) =>
  Buffer.concat([
    latin("OggS\0"),
    Buffer.from([flags]),
    bigEndian(position % 2 ** 40, 6).reverse(),
    Buffer.alloc(2),
    littleEndian(serial, 4),
    Buffer.alloc(8),
    Buffer.from([packets.length, ...packets.map(({ length }) => length)]),
    ...packets
  ])

const codecs = {
  opus: {
    head: latin("OpusHead\x01\x01\x38\x01\x80\xbb\0\0\0\0\0"),
    second: latin("OpusTags\0\0\0\0\0\0\0\0"),
    sampleRate: 48_000,
    packet: Buffer.concat([latin("\x08"), Buffer.alloc(39, 0x55)]),
    packetSamples: 960,
    skipped: 312
  },
  vorbis: {
    head: latin("\x01vorbis\0\0\0\0\x01\x44\xac\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xb8\x01"),
    second: latin("\x03vorbis"),
    sampleRate: 44_100,
    packet: Buffer.concat([latin("\x02"), Buffer.alloc(99, 0x55)]),
    packetSamples: 1024,
    skipped: 0
  },
  flac: {
    head: Buffer.concat([latin("\x7fFLAC\x01\0\0\x01fLaC\0\0\0\x22"), Buffer.alloc(34)]),
    second: latin("\x84\0\0\0"),
    sampleRate: 16_000,
    packet: Buffer.concat([latin("\xff\xf8\xc5\x08\0"), Buffer.alloc(90, 0x55)]),
    packetSamples: 4096,
    skipped: 0
  }
} as const
codecs.flac.head.writeUInt32BE(16_000 * 4096 + 15 * 16, 27)

/** The CRC-8 of FLAC, bit by bit. */
const flacChecksum = (bytes: Uint8Array): number =>
  bytes.reduce((rest, byte) => {
    let next = rest ^ byte
    for (let bit = 0; bit < 8; bit++) next = next & 0x80 ? (next << 1) ^ 0x107 : next << 1
    return next
  }, 0)
codecs.flac.packet[5] = flacChecksum(codecs.flac.packet.subarray(0, 5))

const pagePackets = 20

/** One of the sounds that follow each other in an Ogg file. */
const linkOf = (
  name: keyof typeof codecs,
  serial: number,
  milliseconds: number,
  lie: Lie
): ReadonlyArray<readonly [Buffer, number]> => {
  const codec = codecs[name]
  const count = Math.ceil((milliseconds * codec.sampleRate) / 1000 / codec.packetSamples)
  const pages = Array.from({ length: Math.ceil(count / pagePackets) }, (_, index) => {
    const packets = Math.min(pagePackets, count - index * pagePackets)
    const end = (index * pagePackets + packets) * codec.packetSamples
    const position = declaredUnits(end, lie, 2 ** 39)
    const samples = packets * codec.packetSamples - (index === 0 ? codec.skipped : 0)
    const content = Array.from({ length: packets }, () => codec.packet)
    return [page(serial, 0, position, content), (samples * 1000) / codec.sampleRate] as const
  })
  return [[page(serial, 2, 0, [codec.head]), 0], [page(serial, 0, 0, [codec.second]), 0], ...pages]
}

/** Ogg with one of three codecs, or with two sounds that follow each other. */
const makeOgg = ({ milliseconds, lie, variant }: SoundOrder): SoundFile => {
  // The length of a packet of Vorbis is not in the packet, so that its positions have to be true.
  const isLow = lie === "nothing" || lie === "less"
  const name = (["opus", "flac", isLow ? "opus" : "vorbis"] as const)[variant % 3] ?? "opus"
  const isChained = hasBit(variant, 2)
  const length = isChained ? milliseconds / 2 : milliseconds
  return fileOf([
    ...linkOf(name, 1, length, lie),
    ...(isChained ? linkOf("opus", hasBit(variant, 3) ? 1 : 2, length, isLow ? lie : "none") : [])
  ])
}

/** FLAC: that of the simulated vendors, with another number of samples in the header. */
const makeFlac = ({ milliseconds, lie, variant }: SoundOrder): SoundFile => {
  const flac = Buffer.from(makeSound("flac", milliseconds))
  const samples = milliseconds * 24
  const declared = declaredUnits(samples, hasBit(variant, 0) && lie === "none" ? "nothing" : lie)
  flac.writeUInt32BE(declared, 22)
  const starts: Array<number> = []
  for (let at = flac.indexOf("\xff\xf8", 42, "latin1"); at >= 0; )
    at = starts.push(at) && flac.indexOf("\xff\xf8", at + 2, "latin1")
  const frames = starts.map((start, index) => {
    const count = Math.min(4096, samples - index * 4096)
    return [Buffer.from(flac.subarray(start, starts[index + 1])), count / 24] as const
  })
  const picture = Buffer.concat([words(0x06000400), Buffer.alloc(1024, 0x7f)])
  const head = flac.subarray(0, 42)
  if (hasBit(variant, 1)) head[4] = 0
  if (hasBit(variant, 1)) picture[0] = 0x86
  return fileOf([
    [hasBit(variant, 1) ? Buffer.concat([head, picture]) : Buffer.from(head), 0],
    ...frames
  ])
}

const unknownSize = Buffer.from("01ffffffffffffff", "hex")

/** An element of Matroska; its size takes 8 bytes, and may be unknown. */
const element = (id: string, body: Buffer, isSizeKnown = true): Buffer =>
  Buffer.concat([
    Buffer.from(id, "hex"),
    isSizeKnown ? Buffer.concat([Buffer.from([1, 0]), bigEndian(body.length, 6)]) : unknownSize,
    body
  ])

const float = (value: number): Buffer => {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleBE(value)
  return bytes
}

const blockMilliseconds = 20
const clusterBlocks = 50

/** A block of Opus, alone or in a group that states its duration. */
const blockOf = (milliseconds: number, isGrouped: boolean): Buffer => {
  const head = Buffer.concat([Buffer.from([0x81]), bigEndian(milliseconds, 2), Buffer.from([0])])
  const block = Buffer.concat([head, codecs.opus.packet])
  return isGrouped
    ? element("a0", Buffer.concat([element("a1", block), element("9b", Buffer.from([20]))]))
    : element("a3", block)
}

/** WebM: sizes known or not, with Opus, whose clusters may state low times, or another codec. */
const makeWebm = ({ milliseconds, lie, variant }: SoundOrder): SoundFile => {
  const count = Math.ceil(milliseconds / blockMilliseconds)
  const length = count * blockMilliseconds
  const isOpus = hasBit(variant, 0)
  const isSizeKnown = hasBit(variant, 1)
  const duration = element("4489", float(declaredUnits(length, lie, 1e300)))
  const hasDuration = lie !== "none" || hasBit(variant, 2)
  const info = [element("2ad7b1", bigEndian(1e6, 3)), hasDuration ? duration : Buffer.alloc(0)]
  const codec = element("86", latin(isOpus ? "A_OPUS" : "A_AAC"))
  const track = element("ae", Buffer.concat([codec, element("d7", Buffer.from([1]))]))
  const clusters = Array.from({ length: Math.ceil(count / clusterBlocks) }, (_, index) => {
    const blocks = Math.min(clusterBlocks, count - index * clusterBlocks)
    const start = isOpus && lie === "less" ? 0 : index * clusterBlocks * blockMilliseconds
    const content = Array.from({ length: blocks }, (_, block) =>
      blockOf(block * blockMilliseconds, hasBit(variant, 3))
    )
    const times = element("e7", bigEndian(start, 4))
    const bytes = element("1f43b675", Buffer.concat([times, ...content]), isSizeKnown)
    return [bytes, blocks * blockMilliseconds] as const
  })
  const head = Buffer.concat([
    element("1a45dfa3", element("4282", latin("webm"))),
    Buffer.from("18538067", "hex"),
    unknownSize,
    element("1549a966", Buffer.concat(info)),
    element("1654ae6b", track)
  ])
  return fileOf([[head, 0], ...clusters])
}

/** A sound file of each format that the gateway measures. */
export const soundMakers = {
  wav: makeWav,
  mp3: makeMp3,
  m4a: makeM4a,
  ogg: makeOgg,
  flac: makeFlac,
  webm: makeWebm
} as const
