/**
 * The length of MP4 and QuickTime files (ISO/IEC 14496-12), read from their boxes. Frames are never
 * listed: their tables say how many have which length, so a claim of any number costs the same.
 */
import type { FileBytes } from "./FileBytes.ts"

interface Box {
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

/** The boxes between two places, up to the first that does not fit in there. */
function* boxesIn(file: FileBytes, { start, end }: Omit<Box, "type">): Generator<Box> {
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
    yield { type: head.toString("latin1", 4, 8), start: at + headBytes, end: at + size }
    at += size
  }
}

const find = (file: FileBytes, inside: Omit<Box, "type">, type: string): Box | null => {
  for (const box of boxesIn(file, inside)) if (box.type === type) return box
  return null
}

/** The box at the end of a path of types; null where one is missing. */
const follow = (file: FileBytes, from: Box, path: ReadonlyArray<string>): Box | null =>
  path.reduce<Box | null>((box, type) => (box === null ? null : find(file, box, type)), from)

/** A number within a box; null where the box ends before. */
const uint32 = (file: FileBytes, { start, end }: Box, offset: number): number | null =>
  start + offset + 4 > end ? null : (file.read(start + offset, 4)?.readUInt32BE(0) ?? null)

const uint64 = (file: FileBytes, { start, end }: Box, offset: number): number | null => {
  const bytes = start + offset + 8 > end ? null : file.read(start + offset, 8)
  return bytes === null ? null : Number(bytes.readBigUInt64BE(0))
}

const versionOf = (file: FileBytes, { start }: Box): number =>
  file.read(start, 1)?.readUInt8(0) ?? 0

/** Flags of a box, which stand behind its version. */
const flagsOf = (file: FileBytes, box: Box): number => (uint32(file, box, 0) ?? 0) & 0xffffff

const knownUnits = (units: number | null): number =>
  units === null || units === UNKNOWN_UNITS ? 0 : units

/** Of `mvhd` and `mdhd`, which have these fields at the same places. */
const statedLength = (file: FileBytes, header: Box | null) => {
  if (header === null) return { unitsPerSecond: 0, stated: 0 }
  const isLong = versionOf(file, header) === 1
  return {
    unitsPerSecond: uint32(file, header, isLong ? 20 : 12) ?? 0,
    stated: knownUnits(isLong ? uint64(file, header, 24) : uint32(file, header, 16))
  }
}

/** Adds up what a table of `count` entries says of each; 0 where the table does not fit in its box. */
const sumTable = (
  file: FileBytes,
  table: Pick<Box, "start" | "end">,
  count: number,
  entryBytes: number,
  unitsOf: (bytes: Buffer, at: number) => number
): number => {
  const length = count * entryBytes
  const bytes = table.start + length > table.end ? null : file.read(table.start, length)
  if (bytes === null) return 0
  let units = 0
  for (let at = 0; at < length; at += entryBytes) units += unitsOf(bytes, at)
  return units
}

/** Units of the frames in `stts`, whose entries are a number of frames and the length of each. */
const tableUnits = (file: FileBytes, table: Box | null): number => {
  if (table === null) return 0
  const entries = { start: table.start + 8, end: table.end }
  return sumTable(
    file,
    entries,
    uint32(file, table, 4) ?? 0,
    8,
    (bytes, at) => bytes.readUInt32BE(at) * bytes.readUInt32BE(at + 4)
  )
}

const readMovie = (file: FileBytes, moov: Box): Movie => {
  const header = statedLength(file, find(file, moov, "mvhd"))
  const tracks = new Map<number, Track>()
  const frameUnits = new Map<number, number>()
  let fragments = 0
  let isFragmented = false
  for (const box of boxesIn(file, moov)) {
    if (box.type === "trak") {
      const trackHeader = find(file, box, "tkhd")
      const id =
        trackHeader === null
          ? 0
          : (uint32(file, trackHeader, versionOf(file, trackHeader) === 1 ? 20 : 12) ?? 0)
      tracks.set(id, {
        ...statedLength(file, follow(file, box, ["mdia", "mdhd"])),
        frames: tableUnits(file, follow(file, box, ["mdia", "minf", "stbl", "stts"]))
      })
    } else if (box.type === "mvex") {
      isFragmented = true
      for (const inner of boxesIn(file, box)) {
        if (inner.type === "trex") {
          frameUnits.set(uint32(file, inner, 4) ?? 0, uint32(file, inner, 12) ?? 0)
        } else if (inner.type === "mehd") {
          const isLong = versionOf(file, inner) === 1
          fragments = knownUnits(isLong ? uint64(file, inner, 4) : uint32(file, inner, 4))
        }
      }
    }
  }
  const { unitsPerSecond, stated } = header
  return { unitsPerSecond, stated: Math.max(stated, fragments), isFragmented, tracks, frameUnits }
}

/** Which optional fields stand in a `tfhd` and a `trun`. */
const HAS_BASE_OFFSET = 0x1
const HAS_DESCRIPTION = 0x2
const HAS_FRAME_UNITS = 0x8
const HAS_DATA_OFFSET = 0x1
const HAS_FIRST_FLAGS = 0x4
const HAS_OWN_UNITS = 0x100
const ENTRY_FIELDS = [HAS_OWN_UNITS, 0x200, 0x400, 0x800]

const runUnits = (file: FileBytes, run: Box, frameUnits: number): number => {
  const flags = flagsOf(file, run)
  const count = uint32(file, run, 4) ?? 0
  if ((flags & HAS_OWN_UNITS) === 0) return count * frameUnits
  const before = [HAS_DATA_OFFSET, HAS_FIRST_FLAGS].filter((flag) => (flags & flag) !== 0).length
  const entryBytes = 4 * ENTRY_FIELDS.filter((flag) => (flags & flag) !== 0).length
  const entries = { start: run.start + 8 + 4 * before, end: run.end }
  return sumTable(file, entries, count, entryBytes, (bytes, at) => bytes.readUInt32BE(at))
}

/** The track a fragment is of, and the units of its frames. */
const fragmentUnits = (file: FileBytes, movie: Movie, fragment: Box) => {
  const header = find(file, fragment, "tfhd")
  if (header === null) return { track: 0, units: 0 }
  const flags = flagsOf(file, header)
  const track = uint32(file, header, 4) ?? 0
  const before =
    ((flags & HAS_BASE_OFFSET) === 0 ? 0 : 8) + ((flags & HAS_DESCRIPTION) === 0 ? 0 : 4)
  const own = (flags & HAS_FRAME_UNITS) === 0 ? null : uint32(file, header, 8 + before)
  const frameUnits = own ?? movie.frameUnits.get(track) ?? 0
  let units = 0
  for (const box of boxesIn(file, fragment)) {
    if (box.type === "trun") units += runUnits(file, box, frameUnits)
  }
  return { track, units }
}

const secondsOf = (units: number, unitsPerSecond: number): number =>
  unitsPerSecond === 0 ? 0 : units / unitsPerSecond

/** Seconds of the longest track, by its frames. */
const frameSeconds = (file: FileBytes, whole: Omit<Box, "type">, movie: Movie): number => {
  const units = new Map([...movie.tracks].map(([id, { frames }]) => [id, frames]))
  for (const top of boxesIn(file, whole)) {
    if (top.type !== "moof") continue
    for (const fragment of boxesIn(file, top)) {
      if (fragment.type !== "traf") continue
      const added = fragmentUnits(file, movie, fragment)
      units.set(added.track, (units.get(added.track) ?? 0) + added.units)
    }
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
  const whole = { start: 0, end: file.length }
  const moov = find(file, whole, "moov")
  if (moov === null) return
  const movie = readMovie(file, moov)
  const stated = Math.max(
    secondsOf(movie.stated, movie.unitsPerSecond),
    ...[...movie.tracks.values()].map((track) =>
      secondsOf(track.stated || track.frames, track.unitsPerSecond)
    )
  )
  if (!movie.isFragmented) yield stated
  const frames = frameSeconds(file, whole, movie)
  yield movie.isFragmented ? Math.max(stated, frames) : frames
}
