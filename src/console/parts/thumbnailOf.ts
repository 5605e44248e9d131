/** A small JPEG of an image, or of a video's first frame. */
const SIDE = 192

type Source = HTMLImageElement | HTMLVideoElement

const loadImage = async (address: string): Promise<HTMLImageElement> => {
  const image = new Image()
  image.src = address
  await image.decode()
  return image
}

const loadVideo = (address: string): Promise<HTMLVideoElement> =>
  new Promise((resolve, reject) => {
    const video = document.createElement("video")
    video.muted = true
    video.preload = "auto"
    video.onloadeddata = () => resolve(video)
    video.onerror = () => reject(new Error("The video could not be read"))
    video.src = address
  })

const sidesOf = (source: Source): readonly [width: number, height: number] =>
  source instanceof HTMLVideoElement
    ? [source.videoWidth, source.videoHeight]
    : [source.naturalWidth, source.naturalHeight]

const draw = (source: Source): Promise<Blob> => {
  const [width, height] = sidesOf(source)
  const scale = Math.min(1, SIDE / Math.min(width, height))
  const canvas = document.createElement("canvas")
  canvas.width = Math.max(1, Math.round(width * scale))
  canvas.height = Math.max(1, Math.round(height * scale))
  canvas.getContext("2d")?.drawImage(source, 0, 0, canvas.width, canvas.height)
  return new Promise((resolve, reject) =>
    canvas.toBlob(
      (blob) => (blob === null ? reject(new Error("The picture is empty")) : resolve(blob)),
      "image/jpeg"
    )
  )
}

export const thumbnailOf = async (file: Blob): Promise<Blob> => {
  const address = URL.createObjectURL(file)
  try {
    return await draw(
      await (file.type.startsWith("video/") ? loadVideo(address) : loadImage(address))
    )
  } finally {
    URL.revokeObjectURL(address)
  }
}
