/** The id of a voice that the simulated ElevenLabs has. */
export const ELEVEN_VOICE = "JBFqnCBsd6RMkjVDRZzb"
