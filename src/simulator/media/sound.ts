export type SoundFormat = "mp3" | "opus" | "aac" | "flac" | "wav" | "pcm"
export const makeSound = (_: SoundFormat, milliseconds: number): Uint8Array =>
  new Uint8Array(milliseconds * 8)
