import { promisify } from "node:util"
import { crc32, deflate } from "node:zlib"
import { Effect } from "effect"
import { numberFrom } from "../digest.ts"

/** The longest side of a picture, in pixels. */
export const maxSide = 4096

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const deflateAsync = promisify(deflate)
const gradientColours = 200
/** The part of a sine's turn that the gradient has over the whole picture, in radians. */
const gradientAngle = 2.4
const discCount = 6
const discShades = 8
const rowsPerTurn = 128

/**
 * A PNG of exactly the given size: a gradient with discs, all derived from the seed, so that the
 * same seed and size give the same bytes. One palette byte per pixel limits the largest picture to
 * 16 MiB in memory; common encoders would need four times as much.
 */
export const drawPicture = Effect.fnUntraced(function* (
  seed: string,
  size: { readonly width: number; readonly height: number }
) {
  const { width, height } = size
  const angle = (numberFrom(`${seed} angle`, 360) * Math.PI) / 180
  // The angle addition theorem makes the sine of each pixel of two tables, for columns and for rows.
  const across = wave((Math.cos(angle) * gradientAngle) / width, width)
  const down = wave((Math.sin(angle) * gradientAngle) / height, height)
  const discs = Array.from({ length: discCount }, (_, index) => ({
    x: (numberFrom(`${seed} x${index}`, 1000) / 1000) * width,
    y: (numberFrom(`${seed} y${index}`, 1000) / 1000) * height,
    radius: (0.06 + numberFrom(`${seed} r${index}`, 140) / 1000) * Math.min(width, height),
    firstColour: gradientColours + index * discShades
  }))

  const rowBytes = width + 1
  const pixels = Buffer.alloc(rowBytes * height)
  for (let y = 0; y < height; y++) {
    // Yields to other fibers after a number of rows, so that a large picture does not block other
    // requests.
    if (y % rowsPerTurn === rowsPerTurn - 1) yield* Effect.yieldNow
    const row = y * rowBytes + 1
    const [sinDown = 0, cosDown = 1] = [down.sines[y], down.cosines[y]]
    for (let x = 0; x < width; x++) {
      const sine = (across.sines[x] ?? 0) * cosDown + (across.cosines[x] ?? 1) * sinDown
      pixels[row + x] = Math.trunc((sine * 0.5 + 0.5) * (gradientColours - 1))
    }
    for (const { x: middle, y: level, radius, firstColour } of discs) {
      const half = Math.sqrt(Math.max(radius ** 2 - (y - level) ** 2, 0))
      const from = Math.max(Math.ceil(middle - half), 0)
      const to = Math.min(Math.floor(middle + half), width - 1)
      for (let x = from; half > 0 && x <= to; x++) {
        const out = ((x - middle) ** 2 + (y - level) ** 2) / radius ** 2
        pixels[row + x] = firstColour + Math.min(Math.floor(out * discShades), discShades - 1)
      }
    }
  }

  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 3, 0, 0, 0], 8)
  // Of the fastest levels the one that makes the smallest pictures.
  const data = yield* Effect.promise(() => deflateAsync(pixels, { level: 3 }))
  return Buffer.concat([
    signature,
    chunk("IHDR", header),
    chunk("PLTE", paletteOf(seed)),
    chunk("IDAT", data),
    chunk("IEND", Buffer.alloc(0))
  ])
})

/** Sines and cosines of the first `count` multiples of an angle in radians. */
const wave = (angle: number, count: number) => ({
  sines: Float64Array.from({ length: count }, (_, index) => Math.sin(index * angle)),
  cosines: Float64Array.from({ length: count }, (_, index) => Math.cos(index * angle))
})

const chunk = (type: string, data: Uint8Array): Buffer => {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data])
  const chunkBytes = Buffer.alloc(body.length + 8)
  chunkBytes.writeUInt32BE(data.length, 0)
  chunkBytes.set(body, 4)
  chunkBytes.writeUInt32BE(crc32(body), body.length + 4)
  return chunkBytes
}

const paletteOf = (seed: string): Buffer => {
  const hue = numberFrom(`${seed} hue`, 360)
  const colours: Array<readonly [number, number, number]> = []
  for (let index = 0; index < gradientColours; index++) {
    const part = index / gradientColours
    colours.push(rgb(hue + part * 110, 0.55, 0.22 + part * 0.45))
  }
  for (let disc = 0; disc < discCount; disc++) {
    const discHue = hue + 150 + numberFrom(`${seed} hue${disc}`, 120)
    for (let shade = 0; shade < discShades; shade++) {
      colours.push(rgb(discHue, 0.7, 0.78 - (shade / discShades) * 0.22))
    }
  }
  return Buffer.from(colours.flat())
}

/** Converts HSL to three bytes of RGB. The hue is in degrees, the other values are from 0 to 1. */
const rgb = (
  hue: number,
  saturation: number,
  lightness: number
): readonly [number, number, number] => {
  const reach = saturation * Math.min(lightness, 1 - lightness)
  const channel = (offset: number) => {
    const turn = (offset + hue / 30) % 12
    return Math.round(255 * (lightness - reach * Math.max(-1, Math.min(turn - 3, 9 - turn, 1))))
  }
  return [channel(0), channel(8), channel(4)]
}
