/**
 * The length of MP4 and QuickTime files (ISO/IEC 14496-12), read from their boxes. Frames are never
 * listed: their tables say how many have which length, so a claim of any number costs the same.
 */
import type { FileBytes } from "./FileBytes.ts"

interface Box {
  readonly file: FileBytes
  /** Empty for the file itself, which holds boxes as they do. */
  readonly type: string
  /** Where its content begins and ends in the file. */
  readonly start: number
  readonly end: number
}

interface Track {
  readonly unitsPerSecond: number
  /** In units, as its header states it; 0 when it does not. */
  readonly stated: number
  /** In units, from the table of its frames; 0 where fragments hold them. */
  readonly frames: number
}

interface Movie {
  readonly unitsPerSecond: number
  /** In units, as the header of the movie or of its fragments states it; 0 where none does. */
  readonly stated: number
  /** True when frames may follow in fragments. */
  readonly isFragmented: boolean
  readonly tracks: ReadonlyMap<number, Track>
  /** Units a frame of a track lasts in fragments that do not say. */
  readonly frameUnits: ReadonlyMap<number, number>
}

const HEAD_BYTES = 8
const UNKNOWN_UNITS = 0xffffffff

/** The boxes in a box, up to the first that does not fit in there. */
function* boxesIn({ file, start, end }: Box): Generator<Box> {
  let at = start
  while (at + HEAD_BYTES <= end) {
    const head = file.read(at, HEAD_BYTES)
    if (head === null) return
    const said = head.readUInt32BE(0)
    const long = said === 1 ? file.read(at + HEAD_BYTES, 8) : null
    const headBytes = long === null ? HEAD_BYTES : HEAD_BYTES + 8
    // A box of no size reaches to the end.
    const size = long === null ? said || end - at : Number(long.readBigUInt64BE())
    if (size < headBytes || at + size > end) return
    yield { file, type: head.toString("latin1", 4, 8), start: at + headBytes, end: at + size }
    at += size
  }
}

const all = (inside: Box, type: string): ReadonlyArray<Box> =>
  [...boxesIn(inside)].filter((box) => box.type === type)

/** The first box at the end of a path of types; null where one is missing. */
const find = (from: Box | null, ...path: ReadonlyArray<string>): Box | null =>
  path.reduce((inside, type) => {
    if (inside === null) return null
    for (const box of boxesIn(inside)) if (box.type === type) return box
    return null
  }, from)

/** A number within a box; null where there is none, or it ends before. */
const numberAt = (box: Box | null, offset: number, bytes: 4 | 8 = 4): number | null => {
  if (box === null || box.start + offset + bytes > box.end) return null
  const read = box.file.read(box.start + offset, bytes)
  if (read === null) return null
  return bytes === 4 ? read.readUInt32BE(0) : Number(read.readBigUInt64BE(0))
}

/** Whether the times in a box have 8 bytes, by its version. */
const isLong = (box: Box | null): boolean => (numberAt(box, 0) ?? 0) >>> 24 === 1

/** Flags of a box, which stand behind its version. */
const flagsOf = (box: Box): number => (numberAt(box, 0) ?? 0) & 0xffffff

const knownUnits = (units: number | null): number =>
  units === null || units === UNKNOWN_UNITS ? 0 : units

/** Of `mvhd` and `mdhd`, which have these fields at the same places. */
const statedLength = (header: Box | null) => {
  const long = isLong(header)
  return {
    unitsPerSecond: numberAt(header, long ? 20 : 12) ?? 0,
    stated: knownUnits(long ? numberAt(header, 24, 8) : numberAt(header, 16))
  }
}

/** Adds up what a table of `count` entries says of each; 0 where the table does not fit in its box. */
const sumTable = (
  { file, start, end }: Box,
  count: number,
  entryBytes: number,
  unitsOf: (bytes: Buffer, at: number) => number
): number => {
  const length = count * entryBytes
  const bytes = start + length > end ? null : file.read(start, length)
  if (bytes === null) return 0
  let units = 0
  for (let at = 0; at < length; at += entryBytes) units += unitsOf(bytes, at)
  return units
}

/** Units of the frames in `stts`, whose entries are a number of frames and the length of each. */
const tableUnits = (table: Box | null): number => {
  if (table === null) return 0
  const entries = { ...table, start: table.start + 8 }
  return sumTable(
    entries,
    numberAt(table, 4) ?? 0,
    8,
    (bytes, at) => bytes.readUInt32BE(at) * bytes.readUInt32BE(at + 4)
  )
}

const readTrack = (track: Box): readonly [id: number, Track] => {
  const header = find(track, "tkhd")
  const frames = tableUnits(find(track, "mdia", "minf", "stbl", "stts"))
  return [
    numberAt(header, isLong(header) ? 20 : 12) ?? 0,
    { ...statedLength(find(track, "mdia", "mdhd")), frames }
  ]
}

const readMovie = (moov: Box): Movie => {
  const { unitsPerSecond, stated } = statedLength(find(moov, "mvhd"))
  const extensions = all(moov, "mvex")
  const inExtensions = (type: string) => extensions.flatMap((box) => all(box, type))
  const fragments = inExtensions("mehd").map((header) =>
    knownUnits(isLong(header) ? numberAt(header, 4, 8) : numberAt(header, 4))
  )
  return {
    unitsPerSecond,
    stated: Math.max(stated, ...fragments),
    isFragmented: extensions.length > 0,
    tracks: new Map(all(moov, "trak").map(readTrack)),
    frameUnits: new Map(
      inExtensions("trex").map((box) => [numberAt(box, 4) ?? 0, numberAt(box, 12) ?? 0])
    )
  }
}

/** Which optional fields stand in a `tfhd` and a `trun`. */
const HAS_BASE_OFFSET = 0x1
const HAS_DESCRIPTION = 0x2
const HAS_FRAME_UNITS = 0x8
const HAS_DATA_OFFSET = 0x1
const HAS_FIRST_FLAGS = 0x4
const HAS_OWN_UNITS = 0x100
const ENTRY_FIELDS = [HAS_OWN_UNITS, 0x200, 0x400, 0x800]

const runUnits = (run: Box, frameUnits: number): number => {
  const flags = flagsOf(run)
  const count = numberAt(run, 4) ?? 0
  if ((flags & HAS_OWN_UNITS) === 0) return count * frameUnits
  const before = [HAS_DATA_OFFSET, HAS_FIRST_FLAGS].filter((flag) => (flags & flag) !== 0).length
  const entryBytes = 4 * ENTRY_FIELDS.filter((flag) => (flags & flag) !== 0).length
  const entries = { ...run, start: run.start + 8 + 4 * before }
  return sumTable(entries, count, entryBytes, (bytes, at) => bytes.readUInt32BE(at))
}

/** The track a fragment is of, and the units of its frames. */
const fragmentUnits = (movie: Movie, fragment: Box) => {
  const header = find(fragment, "tfhd")
  if (header === null) return { track: 0, units: 0 }
  const flags = flagsOf(header)
  const track = numberAt(header, 4) ?? 0
  const before =
    ((flags & HAS_BASE_OFFSET) === 0 ? 0 : 8) + ((flags & HAS_DESCRIPTION) === 0 ? 0 : 4)
  const own = (flags & HAS_FRAME_UNITS) === 0 ? null : numberAt(header, 8 + before)
  const frameUnits = own ?? movie.frameUnits.get(track) ?? 0
  const runs = all(fragment, "trun")
  return { track, units: runs.reduce((units, run) => units + runUnits(run, frameUnits), 0) }
}

const secondsOf = (units: number, unitsPerSecond: number): number =>
  unitsPerSecond === 0 ? 0 : units / unitsPerSecond

/** Seconds of the longest track, by its frames. */
const frameSeconds = (whole: Box, movie: Movie): number => {
  const units = new Map([...movie.tracks].map(([id, { frames }]) => [id, frames]))
  for (const fragment of all(whole, "moof").flatMap((moof) => all(moof, "traf"))) {
    const added = fragmentUnits(movie, fragment)
    units.set(added.track, (units.get(added.track) ?? 0) + added.units)
  }
  return Math.max(
    0,
    ...[...movie.tracks].map(([id, track]) => secondsOf(units.get(id) ?? 0, track.unitsPerSecond))
  )
}

/**
 * The lengths in seconds that the file gives, the one to be believed first; any number may come of a
 * broken or hostile file. Nothing for files of another kind. Of headers that differ the longest is
 * believed, and where frames stand in fragments also these are counted: a header may be of the first.
 */
export function* mp4Seconds(file: FileBytes): Generator<number> {
  const whole: Box = { file, type: "", start: 0, end: file.length }
  const moov = find(whole, "moov")
  if (moov === null) return
  const movie = readMovie(moov)
  const stated = Math.max(
    secondsOf(movie.stated, movie.unitsPerSecond),
    ...[...movie.tracks.values()].map((track) =>
      secondsOf(track.stated || track.frames, track.unitsPerSecond)
    )
  )
  if (!movie.isFragmented) yield stated
  const frames = frameSeconds(whole, movie)
  yield movie.isFragmented ? Math.max(stated, frames) : frames
}
