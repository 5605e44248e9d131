import { readFile } from "node:fs/promises"
import { Data, Effect } from "effect"

/**
 * `sunset.mp4` is 16 seconds of H.264 at 640x360 in fragments of one second, each starting with a
 * key frame, behind a header that has an `mehd` box and states no length.
 */
const asset = new URL("./sunset.mp4", import.meta.url)

const assetSeconds = 16

/**
 * Maximum length of a video, in seconds. A video that is longer than the asset repeats the asset
 * from its start.
 */
export const longestClipSeconds = 148

/** The size of every video, regardless of the ordered one. */
export const clipSize = { width: 640, height: 360 }

/** The video asset is missing or does not have the required structure. */
export class ClipUnusable extends Data.TaggedError("ClipUnusable")<{ readonly cause: unknown }> {}

interface Box {
  readonly type: string
  readonly start: number
  readonly end: number
}

const boxHeaderBytes = 8

const boxesIn = (bytes: Buffer, start: number, end: number): ReadonlyArray<Box> => {
  const boxes: Array<Box> = []
  for (let at = start; at + boxHeaderBytes <= end; ) {
    const size = bytes.readUInt32BE(at)
    if (size < boxHeaderBytes || at + size > end) throw new Error(`broken box at byte ${at}`)
    boxes.push({ type: bytes.toString("latin1", at + 4, at + 8), start: at, end: at + size })
    at += size
  }
  return boxes
}

const containers = new Set(["moov", "trak", "mdia", "mvex", "moof", "traf"])

const boxesBelow = (bytes: Buffer, box: Box): ReadonlyArray<Box> =>
  containers.has(box.type)
    ? boxesIn(bytes, box.start + boxHeaderBytes, box.end).flatMap((inner) => [
        inner,
        ...boxesBelow(bytes, inner)
      ])
    : []

/**
 * The header boxes that state a length (all of version 0): the offset of the length from the start
 * of the box, and the type of the box that contains the time scale of this length.
 */
const lengthFields = [
  { type: "mvhd", length: 24, scaleOf: "mvhd" },
  { type: "tkhd", length: 28, scaleOf: "mvhd" },
  { type: "mdhd", length: 24, scaleOf: "mdhd" },
  { type: "mehd", length: 12, scaleOf: "mvhd" }
] as const

const scaleOffset = 20

/**
 * The offset of the sequence number in an `mfhd` box, and of the start time in a `tfdt` box of
 * version 1, both from the start of the box.
 */
const numberOffset = 12
const timeOffset = 12

const startOf = (boxes: ReadonlyArray<Box>, type: string): number => {
  const box = boxes.find((candidate) => candidate.type === type)
  if (box === undefined) throw new Error(`no ${type} box`)
  return box.start
}

/**
 * Cuts the asset to a length. Fragments after this length are left out. Every length field in the
 * header is set too, because players read the length from the header.
 */
const cutter = (bytes: Buffer): ((seconds: number) => Buffer) => {
  const top = boxesIn(bytes, 0, bytes.length)
  const header = top.find(({ type }) => type === "moov")
  if (header === undefined) throw new Error("no moov box")
  const fragments = top.filter(({ type }) => type === "moof")
  if (fragments.length !== assetSeconds) throw new Error("not one fragment per second")
  const inHeader = boxesBelow(bytes, header)
  const scaleOf = (type: string) => bytes.readUInt32BE(startOf(inHeader, type) + scaleOffset)
  const fields = lengthFields.map(({ type, length, scaleOf: scale }) => ({
    offset: startOf(inHeader, type) + length,
    unitsPerSecond: scaleOf(scale)
  }))
  const mediaUnits = scaleOf("mdhd")
  const starts = [...fragments.map(({ start }) => start), bytes.length]

  /**
   * Returns the fragment for one second of the video, with the sequence number and the start time
   * of that second.
   */
  const fragment = (second: number): Buffer => {
    const index = second % assetSeconds
    const copy = Buffer.from(bytes.subarray(starts[index], starts[index + 1]))
    const innerBoxes = boxesIn(copy, 0, copy.length).flatMap((box) => boxesBelow(copy, box))
    copy.writeUInt32BE(second + 1, startOf(innerBoxes, "mfhd") + numberOffset)
    copy.writeBigUInt64BE(BigInt(second * mediaUnits), startOf(innerBoxes, "tfdt") + timeOffset)
    return copy
  }

  return (seconds) => {
    const clip = Buffer.concat([
      bytes.subarray(0, starts[0]),
      ...Array.from({ length: seconds }, (_, second) => fragment(second))
    ])
    for (const { offset, unitsPerSecond } of fields)
      clip.writeUInt32BE(seconds * unitsPerSecond, offset)
    return clip
  }
}

/**
 * Loads the asset. Returns a function that makes a playable MP4 of exactly the given length, in
 * whole seconds from 1 to 30.
 */
export const loadClip: Effect.Effect<(seconds: number) => Uint8Array, ClipUnusable> =
  Effect.tryPromise({
    try: async () => {
      const cutClip = cutter(await readFile(asset))
      const clips = new Map<number, Uint8Array>()
      return (seconds: number) => {
        const clip = clips.get(seconds) ?? cutClip(seconds)
        clips.set(seconds, clip)
        return clip
      }
    },
    catch: (cause) => new ClipUnusable({ cause })
  })
