/** A catalog with models of rankings and of speech, in every way in which they are billed. */
import { testCatalog } from "./gateway.ts"

const CHARACTERS = { kind: "characters", per_million_characters: "100" } as const
const SEARCHES = { kind: "searches", per_thousand_searches: "2" } as const
const TOKENS = { kind: "tokens", per_million_input: "0.8" } as const
const SECONDS = { kind: "audio_seconds", per_second: "0.0001" } as const
const HEARD_TOKENS = {
  kind: "tokens",
  per_million_input: "2",
  per_million_output: "10",
  per_million_audio_input: "6"
} as const
const SOUND_TOKENS = {
  kind: "tokens",
  per_million_input: "4",
  per_million_output: "80"
} as const

/** The only voices of `voice-listed`. */
export const listedVoices = ["alloy", "echo"] as const

/**
 * `voice-1` by characters, `voice-han` with Han characters as two, `voice-tokens` by tokens,
 * `voice-listed` with a list of voices; `listen-1` by seconds, `listen-steps` by steps of them,
 * `listen-tokens` by tokens; `voice-cloud` and `listen-cloud` over dashscope; `voice-eleven` over
 * elevenlabs; `rank-tokens`, `rank-searches`. The models of the test catalog without such a mount
 * stay closed.
 */
export const speechCatalog = (simulatorUrl: string): ReturnType<typeof testCatalog> => {
  const base = testCatalog(simulatorUrl)
  const voice = { modality: "tts", protocol: "openai" } as const
  const listen = { modality: "asr", protocol: "openai" } as const
  const cloud = { protocol: "dashscope" } as const
  const rank = { modality: "rerank", protocol: "jina" } as const
  const mounts = [
    { model: "voice-1", channel: "ch-o", upstream_model: "sim-voice-1", cost: CHARACTERS },
    { model: "voice-han", channel: "ch-o", upstream_model: "sim-voice-1" },
    { model: "voice-tokens", channel: "ch-o", upstream_model: "sim-voice-1" },
    {
      model: "voice-eleven",
      channel: "ch-e",
      upstream_model: "eleven_flash_v2_5",
      cost: CHARACTERS
    },
    { model: "voice-listed", channel: "ch-o", upstream_model: "sim-voice-1" },
    { model: "listen-1", channel: "ch-o", upstream_model: "sim-listen-1", cost: SECONDS },
    { model: "listen-steps", channel: "ch-o", upstream_model: "sim-listen-1" },
    { model: "listen-tokens", channel: "ch-o", upstream_model: "sim-listen-tokens" },
    { model: "voice-cloud", channel: "ch-q", upstream_model: "sim-tts" },
    { model: "listen-cloud", channel: "ch-q", upstream_model: "sim-asr" },
    { model: "rank-tokens", channel: "ch-j", upstream_model: "sim-rank-1", cost: TOKENS },
    { model: "rank-searches", channel: "ch-j", upstream_model: "sim-rank-1", cost: SEARCHES }
  ]
  return {
    ...base,
    channels: [
      ...base.channels,
      { id: "ch-o", name: "O", base_url: `${simulatorUrl}/openai/v1`, api_key: "vendor-key-o" },
      { id: "ch-q", name: "Q", base_url: `${simulatorUrl}/dashscope`, api_key: "vendor-key-q" },
      { id: "ch-j", name: "J", base_url: `${simulatorUrl}/jina/v1`, api_key: "vendor-key-j" },
      { id: "ch-e", name: "E", base_url: `${simulatorUrl}/elevenlabs`, api_key: "vendor-key-e" }
    ],
    models: [
      ...base.models,
      { ...voice, id: "voice-1", prices: CHARACTERS },
      { ...voice, id: "voice-han", prices: { ...CHARACTERS, counts: "han_double" } },
      { ...voice, id: "voice-tokens", prices: SOUND_TOKENS },
      { ...voice, id: "voice-eleven", protocol: "elevenlabs", prices: CHARACTERS },
      { ...voice, id: "voice-listed", prices: CHARACTERS, limits: { voices: [...listedVoices] } },
      { ...voice, id: "voice-closed" },
      { ...voice, id: "voice-elsewhere", protocol: "jina" },
      { ...listen, id: "listen-1", prices: SECONDS },
      {
        ...listen,
        id: "listen-steps",
        prices: { ...SECONDS, step_seconds: 15, minimum_seconds: 30 }
      },
      { ...listen, id: "listen-tokens", prices: HEARD_TOKENS },
      { ...listen, id: "listen-closed" },
      { ...voice, ...cloud, id: "voice-cloud", prices: CHARACTERS },
      { ...listen, ...cloud, id: "listen-cloud", prices: SECONDS },
      { ...rank, id: "rank-tokens", prices: TOKENS },
      { ...rank, id: "rank-searches", prices: SEARCHES }
    ],
    mounts: [
      ...base.mounts,
      ...mounts,
      { model: "voice-elsewhere", channel: "ch-j" },
      { model: "rank-1", channel: "ch-o" }
    ]
  }
}
