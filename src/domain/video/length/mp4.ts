/**
 * Reads the duration of MP4 and QuickTime files (ISO/IEC 14496-12) from their boxes. Players use
 * different sources: the headers of the movie and its tracks, edit lists, sample tables, fragments
 * and their index. A client's file may state another duration in each of them, so all are compared.
 * Samples are not enumerated: the tables state how many samples have which duration, so the cost
 * does not depend on the number of samples.
 */
import { areAlike, longestOf, toleranceOf } from "./claims.ts"
import type { FileBytes } from "./FileBytes.ts"

interface Box {
  /** The type of the box; empty for the file itself, which contains boxes like a box does. */
  readonly type: string
  /** The offsets of the content's start and end in the file. */
  readonly start: number
  readonly end: number
}

const HEAD_BYTES = 8
/** The value of an unknown duration in a header, by the width of the field in bytes. */
const UNKNOWN_UNITS = { 4: 2 ** 32 - 1, 8: 2 ** 64 - 1 }

/** Boxes with which a player may read the video from elsewhere: compressed, or in another file. */
const externalTypes: ReadonlySet<string> = new Set(["cmov", "rmra"])

/** Reads boxes, and records whether players may read the file in different ways. */
class BoxReader {
  private readonly file: FileBytes
  /** Whether players may read the file in different ways. */
  isDoubtful = false

  constructor(file: FileBytes) {
    this.file = file
  }

  markDoubtful(): null {
    this.isDoubtful = true
    return null
  }

  /** The box at an offset; null if the box does not fit before `end`. */
  private boxAt(at: number, end: number): Box | null {
    const head = this.file.read(at, HEAD_BYTES)
    if (head === null) return null
    const statedSize = head.readUInt32BE(0)
    const longSize = statedSize === 1 ? this.file.read(at + HEAD_BYTES, 8) : null
    const headBytes = longSize === null ? HEAD_BYTES : HEAD_BYTES + 8
    // A box with size 0 extends to the end of its parent.
    const size = longSize === null ? statedSize || end - at : Number(longSize.readBigUInt64BE())
    if (size < headBytes || at + size > end) return this.markDoubtful()
    const type = head.toString("latin1", 4, 8)
    if (externalTypes.has(type)) this.markDoubtful()
    return { type, start: at + headBytes, end: at + size }
  }

  /**
   * The child boxes of a box. A child that does not fit in its parent makes the file ambiguous:
   * some players read it and others do not.
   */
  childrenOf(parent: Box | null): ReadonlyArray<Box> {
    const children: Array<Box> = []
    if (parent === null) return children
    let at = parent.start
    while (at + HEAD_BYTES <= parent.end) {
      const box = this.boxAt(at, parent.end)
      if (box === null) break
      children.push(box)
      at = box.end
    }
    return children
  }

  ofType(boxes: ReadonlyArray<Box>, type: string): ReadonlyArray<Box> {
    return boxes.filter((box) => box.type === type)
  }

  /** The box of a type that may occur only once: if there are two, players may take either. */
  singleBox(boxes: ReadonlyArray<Box>, type: string): Box | null {
    const [first = null, second] = this.ofType(boxes, type)
    return second === undefined ? first : this.markDoubtful()
  }

  /** The only child box of a type. */
  childOf(parent: Box | null, type: string): Box | null {
    return this.singleBox(this.childrenOf(parent), type)
  }

  /** A number within a box; null if the box is missing or too short. */
  numberAt(box: Box | null, offset: number, bytes: 4 | 8 = 4): number | null {
    if (box === null || box.start + offset + bytes > box.end) return null
    const content = this.file.read(box.start + offset, bytes)
    if (content === null) return null
    return bytes === 4 ? content.readUInt32BE(0) : Number(content.readBigUInt64BE(0))
  }

  /** Whether times in a box have 8 bytes, according to the version of the box. */
  isLong(box: Box | null): boolean {
    return (this.numberAt(box, 0) ?? 0) >>> 24 === 1
  }

  /** The duration in a header; 0 if it is missing or unknown. */
  unitsAt(box: Box | null, shortOffset: number, longOffset: number): number {
    const [offset, bytes] = this.isLong(box)
      ? ([longOffset, 8] as const)
      : ([shortOffset, 4] as const)
    const units = this.numberAt(box, offset, bytes) ?? 0
    return units === UNKNOWN_UNITS[bytes] ? 0 : units
  }

  /** A table of `count` entries; null if the table does not fit in its box. */
  tableAt({ start, end }: Box, offset: number, count: number, entryBytes: number): Buffer | null {
    const length = count * entryBytes
    return start + offset + length > end
      ? this.markDoubtful()
      : this.file.read(start + offset, length)
  }
}

const secondsOf = (units: number, unitsPerSecond: number): number =>
  unitsPerSecond === 0 ? 0 : units / unitsPerSecond

const sumOf = (numbers: ReadonlyArray<number>): number =>
  numbers.reduce((sum, number) => sum + number, 0)

/** Reduces the entries of a table to a number; 0 if there is no table. */
const foldTable = (
  table: Buffer | null,
  entryBytes: number,
  next: (sum: number, table: Buffer, at: number) => number
): number => {
  let sum = 0
  if (table === null) return sum
  for (let at = 0; at < table.length; at += entryBytes) sum = next(sum, table, at)
  return sum
}

/** The total duration of all edits, in time units of the movie. */
const editUnits = (reader: BoxReader, list: Box | null): number => {
  if (list === null) return 0
  const isLong = reader.isLong(list)
  const entryBytes = isLong ? 20 : 12
  const table = reader.tableAt(list, 8, reader.numberAt(list, 4) ?? 0, entryBytes)
  return foldTable(
    table,
    entryBytes,
    (sum, bytes, at) => sum + (isLong ? Number(bytes.readBigUInt64BE(at)) : bytes.readUInt32BE(at))
  )
}

/**
 * The maximum composition offset of a sample. The offset is signed in one version and unsigned in
 * the other, so the absolute value is used.
 */
const longerDelay = (longest: number, bytes: Buffer, at: number): number =>
  Math.max(longest, Math.abs(bytes.readInt32BE(at)))

/** The total duration of all samples in time units, from the tables of sample durations. */
const tableUnits = (
  reader: BoxReader,
  frames: ReadonlyArray<Box>,
  unitsPerSecond: number
): number => {
  const pairsOf = (type: string): Buffer | null => {
    const table = reader.singleBox(frames, type)
    return table === null ? null : reader.tableAt(table, 8, reader.numberAt(table, 4) ?? 0, 8)
  }
  const lengths = pairsOf("stts")
  // The file is ambiguous if samples have no duration, because players invent one, or if a
  // composition offset may extend past the last sample.
  const sizes = reader.singleBox(frames, "stsz") ?? reader.singleBox(frames, "stz2")
  const listedFrames = foldTable(lengths, 8, (sum, bytes, at) => sum + bytes.readUInt32BE(at))
  if ((reader.numberAt(sizes, 8) ?? 0) > listedFrames && listedFrames > 0) reader.markDoubtful()
  const delay = foldTable(pairsOf("ctts"), 8, (longest, bytes, at) =>
    longerDelay(longest, bytes, at + 4)
  )
  if (secondsOf(delay, unitsPerSecond) > toleranceOf(0)) reader.markDoubtful()
  return foldTable(
    lengths,
    8,
    (sum, bytes, at) => sum + bytes.readUInt32BE(at) * bytes.readUInt32BE(at + 4)
  )
}

interface Track {
  readonly unitsPerSecond: number
  /** The total duration of the samples in the movie itself, in time units. */
  readonly frames: number
  /** The durations in seconds that parts of the track state; 0 if a part states none. */
  readonly claims: ReadonlyArray<number>
}

const readTrack = (
  reader: BoxReader,
  track: Box,
  movieUnits: number
): readonly [id: number, Track] => {
  const children = reader.childrenOf(track)
  const header = reader.singleBox(children, "tkhd")
  const media = reader.childrenOf(reader.singleBox(children, "mdia"))
  const mediaHeader = reader.singleBox(media, "mdhd")
  const unitsPerSecond = reader.numberAt(mediaHeader, reader.isLong(mediaHeader) ? 20 : 12) ?? 0
  const table = reader.childrenOf(reader.childOf(reader.singleBox(media, "minf"), "stbl"))
  const frames = tableUnits(reader, table, unitsPerSecond)
  const edits = editUnits(reader, reader.childOf(reader.singleBox(children, "edts"), "elst"))
  const claims = [
    secondsOf(reader.unitsAt(header, 20, 28), movieUnits),
    secondsOf(edits, movieUnits),
    secondsOf(reader.unitsAt(mediaHeader, 16, 24), unitsPerSecond),
    secondsOf(frames, unitsPerSecond)
  ]
  const id = reader.numberAt(header, reader.isLong(header) ? 20 : 12) ?? 0
  return [id, { unitsPerSecond, frames, claims }]
}

interface Movie {
  /** The duration in the movie header; 0 if it is missing. */
  readonly statedSeconds: number
  readonly tracks: ReadonlyMap<number, Track>
  /** The durations in seconds, including all fragments, that the movie states. */
  readonly withFragments: ReadonlyArray<number>
  /** The default sample duration of each track, for fragments that state none. */
  readonly frameUnits: ReadonlyMap<number, number>
}

const readMovie = (reader: BoxReader, moov: Box): Movie => {
  const children = reader.childrenOf(moov)
  const header = reader.singleBox(children, "mvhd")
  const unitsPerSecond = reader.numberAt(header, reader.isLong(header) ? 20 : 12) ?? 0
  const extensions = reader.ofType(children, "mvex").flatMap((box) => reader.childrenOf(box))
  const tracks = reader
    .ofType(children, "trak")
    .map((track) => readTrack(reader, track, unitsPerSecond))
  const byId = new Map(tracks)
  // The file is ambiguous if two tracks share an id, because their fragments may belong to either.
  if (byId.size < tracks.length) reader.markDoubtful()
  return {
    statedSeconds: secondsOf(reader.unitsAt(header, 16, 24), unitsPerSecond),
    tracks: byId,
    withFragments: reader
      .ofType(extensions, "mehd")
      .map((box) => secondsOf(reader.unitsAt(box, 4, 4), unitsPerSecond)),
    frameUnits: new Map(
      reader
        .ofType(extensions, "trex")
        .map((box) => [reader.numberAt(box, 4) ?? 0, reader.numberAt(box, 12) ?? 0])
    )
  }
}

/** Flags of the optional fields in a `tfhd` and a `trun`. */
const HAS_BASE_OFFSET = 0x1
const HAS_DESCRIPTION = 0x2
const HAS_FRAME_UNITS = 0x8
const HAS_DATA_OFFSET = 0x1
const HAS_FIRST_FLAGS = 0x4
const HAS_OWN_UNITS = 0x100
const HAS_DELAY = 0x800
const ENTRY_FIELDS = [HAS_OWN_UNITS, 0x200, 0x400, HAS_DELAY]

/** The flags of a box, which follow its version. */
const flagsOf = (reader: BoxReader, box: Box): number => (reader.numberAt(box, 0) ?? 0) & 0xffffff

/** The total duration of the samples of a run in time units, and its maximum composition offset. */
const readRun = (reader: BoxReader, run: Box, frameUnits: number) => {
  const flags = flagsOf(reader, run)
  const has = (flag: number): boolean => (flags & flag) !== 0
  const count = reader.numberAt(run, 4) ?? 0
  if (!has(HAS_OWN_UNITS) && !has(HAS_DELAY)) return { units: count * frameUnits, delay: 0 }
  const fieldsBefore = [HAS_DATA_OFFSET, HAS_FIRST_FLAGS].filter(has).length
  const entryBytes = 4 * ENTRY_FIELDS.filter(has).length
  const table = reader.tableAt(run, 8 + 4 * fieldsBefore, count, entryBytes)
  return {
    units: has(HAS_OWN_UNITS)
      ? foldTable(table, entryBytes, (sum, bytes, at) => sum + bytes.readUInt32BE(at))
      : count * frameUnits,
    delay: has(HAS_DELAY)
      ? foldTable(table, entryBytes, (longest, bytes, at) =>
          longerDelay(longest, bytes, at + entryBytes - 4)
        )
      : 0
  }
}

/**
 * The track id of a fragment, its stated start, and the total duration of its samples in time
 * units.
 */
const readFragment = (reader: BoxReader, movie: Movie, fragment: Box) => {
  const children = reader.childrenOf(fragment)
  const header = reader.singleBox(children, "tfhd")
  if (header === null) return null
  const flags = flagsOf(reader, header)
  const id = reader.numberAt(header, 4) ?? 0
  const fieldsBefore =
    ((flags & HAS_BASE_OFFSET) === 0 ? 0 : 8) + ((flags & HAS_DESCRIPTION) === 0 ? 0 : 4)
  const ownFrameUnits =
    (flags & HAS_FRAME_UNITS) === 0 ? null : reader.numberAt(header, 8 + fieldsBefore)
  const frameUnits = ownFrameUnits ?? movie.frameUnits.get(id) ?? 0
  const runs = reader.ofType(children, "trun").map((run) => readRun(reader, run, frameUnits))
  const unitsPerSecond = movie.tracks.get(id)?.unitsPerSecond ?? 0
  const delay = longestOf(runs.map((run) => run.delay))
  if (secondsOf(delay, unitsPerSecond) > toleranceOf(0)) reader.markDoubtful()
  return {
    id,
    begin: reader.unitsAt(reader.singleBox(children, "tfdt"), 4, 4),
    units: sumOf(runs.map(({ units }) => units))
  }
}

/**
 * Two durations in seconds, each the longest over all tracks: the total of a track's samples, and
 * the end of its last fragment.
 */
const fragmentClaims = (
  reader: BoxReader,
  movie: Movie,
  moofs: ReadonlyArray<Box>
): ReadonlyArray<number> => {
  const units = new Map([...movie.tracks].map(([id, { frames }]) => [id, frames]))
  const ends = new Map<number, number>()
  for (const moof of moofs) {
    for (const box of reader.ofType(reader.childrenOf(moof), "traf")) {
      const fragment = readFragment(reader, movie, box)
      if (fragment === null) continue
      const { id, begin } = fragment
      units.set(id, (units.get(id) ?? 0) + fragment.units)
      if (begin > 0) ends.set(id, Math.max(ends.get(id) ?? 0, begin + fragment.units))
    }
  }
  const longest = (byTrack: ReadonlyMap<number, number>) =>
    longestOf(
      [...byTrack].map(([id, all]) => secondsOf(all, movie.tracks.get(id)?.unitsPerSecond ?? 0))
    )
  return [longest(units), longest(ends)]
}

/** The end, in seconds, of the last segment listed in the index. */
const indexSeconds = (reader: BoxReader, index: Box): number => {
  const isLong = reader.isLong(index)
  const offset = isLong ? 28 : 20
  const count = (reader.numberAt(index, offset) ?? 0) & 0xffff
  const table = reader.tableAt(index, offset + 4, count, 12)
  const units = foldTable(table, 12, (sum, bytes, at) => sum + bytes.readUInt32BE(at + 4))
  return secondsOf(reader.unitsAt(index, 12, 12) + units, reader.numberAt(index, 8) ?? 0)
}

/**
 * The longest duration, in seconds, that a player could show; null if players may differ by more
 * than rounding, if the file is of another type, and if it states no duration. A hostile file may
 * yield any number.
 */
export const mp4Seconds = (file: FileBytes): number | null => {
  const reader = new BoxReader(file)
  const boxes = reader.childrenOf({ type: "", start: 0, end: file.length })
  const moov = reader.singleBox(boxes, "moov")
  if (moov === null) return null
  const movie = readMovie(reader, moov)
  const tracks = [...movie.tracks.values()]
  const totals = [
    ...movie.withFragments,
    ...fragmentClaims(reader, movie, reader.ofType(boxes, "moof")),
    // The latest end of all indexes counts, because each of several indexes covers only a part of
    // the file.
    longestOf(reader.ofType(boxes, "sidx").map((index) => indexSeconds(reader, index)))
  ]
  const ofTracks = longestOf(tracks.map(({ claims }) => longestOf(claims)))
  const statedClaims = [movie.statedSeconds, ofTracks]
  const isFragmented = movie.withFragments.length > 0 || boxes.some(({ type }) => type === "moof")
  const claims = isFragmented ? [...statedClaims, ...totals] : statedClaims
  const areClaimsConsistent =
    tracks.every(({ claims }) => areAlike(claims)) &&
    areAlike(statedClaims) &&
    areAlike(isFragmented ? [...totals, longestOf(claims)] : statedClaims)
  return areClaimsConsistent && !reader.isDoubtful ? longestOf(claims) : null
}
