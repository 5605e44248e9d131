/** Measures MP4 and QuickTime files (ISO/IEC 14496-12), also in fragments. */
import { bigEndianAt, isTextAt } from "./byteReads.ts"

const codeOf = (type: string): number => bigEndianAt(Buffer.from(type, "latin1"), 0, 4)

/** The boxes with which a file may begin. */
const firstTypes = ["ftyp", "moov", "moof", "styp", "mdat", "wide", "free", "skip", "pnot"]

const HEAD_BYTES = 8
const LONG_HEAD_BYTES = 16

/** Containers in containers: no file has more. */
const MAX_DEPTH = 16

/** The samples of a frame of AAC. */
const AAC_FRAME_SAMPLES = 1024

/**
 * The most boxes and tracks that are read in a file: a recording of 25 MB with a fragment for each
 * frame has as many boxes. A file with more has no length.
 */
const MAX_BOXES = 700_000
const MAX_TRACKS = 1000

interface Track {
  unitsPerSecond: number
  /** The length in units that the header of the track's media declares. */
  declaredUnits: number
  /** The length in units of all samples in tables and fragments, and their number. */
  sampleUnits: number
  samples: number
  /** The samples of sound per second in frames of AAC; 0 for another codec. */
  aacRate: number
  /** The units of a sample in a fragment that does not state them. */
  defaultUnits: number
}

const newTrack = (): Track => ({
  unitsPerSecond: 0,
  declaredUnits: 0,
  sampleUnits: 0,
  samples: 0,
  aacRate: 0,
  defaultUnits: 0
})

/** The content of a box. */
interface Content {
  readonly start: number
  readonly end: number
}

/**
 * The samples per second by their index in a decoder's configuration (ISO/IEC 14496-3, table 1.18).
 */
const aacRates = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8000, 7350
] as const

/** Types of objects with frames of 1024 samples: AAC Main, LC, SSR and LTP, and those with SBR. */
const aacObjects: ReadonlySet<number> = new Set([1, 2, 3, 4, 5, 29])

/** The types of a stream that have such a configuration: MPEG-4 and MPEG-2 AAC. */
const aacStreams: ReadonlySet<number> = new Set([0x40, 0x66, 0x67, 0x68])

/** The offset behind the tag and the size of a descriptor; the size has 7 bits per byte. */
const descriptorStart = (bytes: Buffer, at: number): number => {
  let start = at + 1
  while (start < at + 4 && (bytes[start] ?? 0) >= 0x80) start++
  return start + 1
}

/**
 * The samples per second of AAC by the descriptors in an `esds` box with its content at `at`; 0 for
 * another codec. Descriptors with optional fields, which files of sound lack, are not read.
 */
const aacRateAt = (bytes: Buffer, at: number): number => {
  const stream = descriptorStart(bytes, at + 4) + 3
  const decoder = descriptorStart(bytes, stream)
  const settings = decoder + 13
  const isAac = bytes[at + 4] === 3 && bytes[stream] === 4 && bytes[settings] === 5
  if (!isAac || !aacStreams.has(bytes[decoder] ?? 0)) return 0
  const bits = bigEndianAt(bytes, descriptorStart(bytes, settings), 5)
  const object = Math.floor(bits / 2 ** 35)
  const index = Math.floor(bits / 2 ** 31) & 15
  if (!aacObjects.has(object)) return 0
  return index === 15 ? Math.floor(bits / 2 ** 7) % 2 ** 24 : (aacRates[index] ?? 0)
}

/** How many bytes of a description of samples are searched for the box `esds`, and its least size. */
const MAX_DESCRIPTION_BYTES = 512
const MIN_DESCRIPTION_BYTES = 64

/** Which fields a `trun` box has for each sample, by its flags. */
const SAMPLE_FIELDS = [0x100, 0x200, 0x400, 0x800]

class Mp4File {
  private readonly bytes: Buffer
  private readonly tracks = new Map<number, Track>()
  /** The track that is read, or whose fragment is read. */
  private track = newTrack()
  private fragmentUnits = 0
  private movieUnitsPerSecond = 0
  private movieUnits = 0
  private editUnits = 0
  /** The units of all edits of the longest track. */
  private longestEditUnits = 0

  private readonly readers = new Map<number, (content: Content) => void>([
    [codeOf("mvhd"), (content) => this.readMovieHeader(content)],
    [codeOf("mehd"), (content) => this.readFragmentsHeader(content)],
    [codeOf("trak"), () => this.beginTrack()],
    [codeOf("tkhd"), (content) => this.readTrackHeader(content)],
    [codeOf("elst"), (content) => this.readEdits(content)],
    [codeOf("mdhd"), (content) => this.readMediaHeader(content)],
    [codeOf("stsd"), (content) => this.readDescription(content)],
    [codeOf("stts"), (content) => this.readSampleTimes(content)],
    [codeOf("trex"), (content) => this.readDefaults(content)],
    [codeOf("tfhd"), (content) => this.readFragmentHeader(content)],
    [codeOf("trun"), (content) => this.readRun(content)]
  ])

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }

  private numberAt(at: number, width: 4 | 8 = 4): number {
    return bigEndianAt(this.bytes, at, width)
  }

  /** Whether the times in a box have 8 bytes, by the version of the box. */
  private isLong({ start }: Content): boolean {
    return this.bytes[start] === 1
  }

  /** The flags of a box, behind its version. */
  private flagsOf({ start }: Content): number {
    return bigEndianAt(this.bytes, start + 1, 3)
  }

  /** A duration; 0 if all of its bits are 1, which means that it is unknown. */
  private durationAt(at: number, width: 4 | 8): number {
    const units = this.numberAt(at, width)
    return units >= 2 ** (8 * width) - 1 ? 0 : units
  }

  /** Whether there are more tracks than in any real file. */
  get isOverfull(): boolean {
    return this.tracks.size > MAX_TRACKS
  }

  private trackOf(id: number): Track {
    const known = this.tracks.get(id)
    if (known !== undefined) return known
    const track = newTrack()
    this.tracks.set(id, track)
    return track
  }

  /** The units per second and the duration in the header of a movie or of a track's media. */
  private timesOf(content: Content): readonly [unitsPerSecond: number, units: number] {
    const { start } = content
    return this.isLong(content)
      ? [this.numberAt(start + 20), this.durationAt(start + 24, 8)]
      : [this.numberAt(start + 12), this.durationAt(start + 16, 4)]
  }

  private readMovieHeader(content: Content): void {
    const [unitsPerSecond, units] = this.timesOf(content)
    this.movieUnitsPerSecond = unitsPerSecond
    this.movieUnits = Math.max(this.movieUnits, units)
  }

  private readFragmentsHeader(content: Content): void {
    const units = this.durationAt(content.start + 4, this.isLong(content) ? 8 : 4)
    this.movieUnits = Math.max(this.movieUnits, units)
  }

  private beginTrack(): void {
    this.track = newTrack()
    this.editUnits = 0
  }

  private readTrackHeader(content: Content): void {
    this.track = this.trackOf(this.numberAt(content.start + (this.isLong(content) ? 20 : 12)))
  }

  /** Adds the edits of a track, which may play a part of it several times. */
  private readEdits(content: Content): void {
    const width = this.isLong(content) ? 8 : 4
    const entryBytes = 2 * width + 4
    const end = Math.min(
      content.end,
      content.start + 8 + this.numberAt(content.start + 4) * entryBytes
    )
    for (let at = content.start + 8; at + entryBytes <= end; at += entryBytes)
      this.editUnits += this.durationAt(at, width)
    this.longestEditUnits = Math.max(this.longestEditUnits, this.editUnits)
  }

  private readMediaHeader(content: Content): void {
    const [unitsPerSecond, units] = this.timesOf(content)
    this.track.unitsPerSecond = unitsPerSecond
    this.track.declaredUnits = Math.max(this.track.declaredUnits, units)
  }

  private readDescription({ start, end }: Content): void {
    if (end - start < MIN_DESCRIPTION_BYTES) return
    const description = this.bytes.subarray(start, Math.min(end, start + MAX_DESCRIPTION_BYTES))
    const at = description.indexOf("esds", 0, "latin1")
    if (at >= 0) this.track.aacRate = aacRateAt(this.bytes, start + at + 4)
  }

  private readSampleTimes({ start, end }: Content): void {
    const tableEnd = Math.min(end, start + 8 + this.numberAt(start + 4) * 8)
    for (let at = start + 8; at + 8 <= tableEnd; at += 8) {
      const samples = this.numberAt(at)
      this.track.samples += samples
      this.track.sampleUnits += samples * this.numberAt(at + 4)
    }
  }

  private readDefaults({ start }: Content): void {
    this.trackOf(this.numberAt(start + 4)).defaultUnits = this.numberAt(start + 12)
  }

  private readFragmentHeader(content: Content): void {
    const flags = this.flagsOf(content)
    this.track = this.trackOf(this.numberAt(content.start + 4))
    const at = content.start + 8 + (flags & 1 ? 8 : 0) + (flags & 2 ? 4 : 0)
    this.fragmentUnits = flags & 8 ? this.numberAt(at) : this.track.defaultUnits
  }

  /** Adds the samples of a run, of which no more count than there are entries for. */
  private readRun(content: Content): void {
    const flags = this.flagsOf(content)
    const first = content.start + 8 + (flags & 1 ? 4 : 0) + (flags & 4 ? 4 : 0)
    const entryBytes = 4 * SAMPLE_FIELDS.filter((field) => (flags & field) !== 0).length
    const room = Math.max(content.end - first, 0)
    const stated = this.numberAt(content.start + 4)
    const samples = entryBytes === 0 ? stated : Math.min(stated, Math.floor(room / entryBytes))
    this.track.samples += samples
    if ((flags & 0x100) === 0) this.track.sampleUnits += samples * this.fragmentUnits
    else
      for (let index = 0; index < samples; index++)
        this.track.sampleUnits += this.numberAt(first + index * entryBytes)
  }

  read(type: number, content: Content): void {
    this.readers.get(type)?.(content)
  }

  milliseconds(): number {
    const movieUnits = Math.max(this.movieUnits, this.longestEditUnits)
    const claims = this.movieUnitsPerSecond === 0 ? [0] : [movieUnits / this.movieUnitsPerSecond]
    for (const track of this.tracks.values()) {
      const units = Math.max(track.declaredUnits, track.sampleUnits)
      if (track.unitsPerSecond > 0) claims.push(units / track.unitsPerSecond)
      if (track.aacRate > 0) claims.push((track.samples * AAC_FRAME_SAMPLES) / track.aacRate)
    }
    return claims.reduce((longest, seconds) => Math.max(longest, seconds), 0) * 1000
  }
}

/** Containers: their children are read like all other boxes. */
const containers: ReadonlySet<number> = new Set(
  ["moov", "trak", "edts", "mdia", "minf", "stbl", "mvex", "moof", "traf"].map(codeOf)
)

/** The content of the box at an offset, cut at `end`; null if its size is impossible. */
const contentAt = (bytes: Buffer, at: number, end: number): Content | null => {
  const statedSize = bigEndianAt(bytes, at, 4)
  const headBytes = statedSize === 1 ? LONG_HEAD_BYTES : HEAD_BYTES
  const longSize = statedSize === 1 ? bigEndianAt(bytes, at + HEAD_BYTES, 8) : statedSize
  // A box with size 0 extends to the end of its container.
  const size = longSize === 0 ? end - at : longSize
  return size < headBytes ? null : { start: at + headBytes, end: Math.min(at + size, end) }
}

/**
 * The length in milliseconds; 0 if there is none, and null if the file is not MP4. A box of an
 * impossible size ends its container, and a box that is cut has what is there of it.
 */
export const m4aMilliseconds = (bytes: Buffer): number | null => {
  if (!firstTypes.some((type) => isTextAt(bytes, 4, type))) return null
  const file = new Mp4File(bytes)
  const ends = [bytes.length]
  let boxes = 0
  for (let at = 0; ends.length > 0; boxes++) {
    if (boxes > MAX_BOXES || file.isOverfull) return 0
    const end = ends.at(-1) ?? 0
    const content = at + HEAD_BYTES <= end ? contentAt(bytes, at, end) : null
    if (content === null) {
      at = end
      ends.pop()
      continue
    }
    const type = bigEndianAt(bytes, at + 4, 4)
    file.read(type, content)
    const isEntered = containers.has(type) && ends.length < MAX_DEPTH
    if (isEntered) ends.push(content.end)
    at = isEntered ? content.start : content.end
  }
  return file.milliseconds()
}
