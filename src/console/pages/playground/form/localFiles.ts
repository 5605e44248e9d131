/** Files of the reader's computer, which an order contains as `data:` URLs. */

const MEGABYTE = 1_000_000
/**
 * The maximum size of all files. In base64 they are a third larger, which is still below the
 * gateway's default body limit.
 */
export const MOST_BYTES = 32 * MEGABYTE

export const megabytes = (bytes: number): string =>
  bytes < MEGABYTE / 10
    ? `${Math.ceil(bytes / 1000)} kB`
    : `${(bytes / MEGABYTE).toFixed(1).replace(".0", "")} MB`

export const asDataUrl = (file: File): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result))
    reader.onerror = () => reject(new Error(`${file.name} could not be read`))
    reader.readAsDataURL(file)
  })

/** The seconds of a recording; null if the browser cannot play it, or it has no known length. */
export const secondsOf = (file: File): Promise<number | null> =>
  new Promise((resolve) => {
    const address = URL.createObjectURL(file)
    const audio = new Audio()
    const end = (seconds: number | null) => {
      URL.revokeObjectURL(address)
      resolve(seconds)
    }
    audio.preload = "metadata"
    audio.onloadedmetadata = () =>
      end(Number.isFinite(audio.duration) && audio.duration > 0 ? audio.duration : null)
    audio.onerror = () => end(null)
    audio.src = address
  })
