/**
 * Rows that cannot be ordered, by what is said of them. A row that can be ordered after all must go
 * from its list, and no row outside may fail: so the lists can only shrink.
 */
import type { KnownFaults } from "../support/knownFaults.ts"

/** What the simulated vendors refuse although the real ones take it. */
export const atVendor: KnownFaults = {}

/** What a vendor's own package can order of it, and a client of the gateway cannot. */
export const atGateway: KnownFaults = {
  // It halves the bill, and has no price.
  "service_tier: There is no such field": [
    "seedance-1-0-pro-250528: the slow and cheap tier",
    "seedance-1-5-pro-251215: the slow and cheap tier",
    "seedance-1-0-pro-250528: the usual tier by its name",
    "seedance-1-5-pro-251215: the usual tier by its name"
  ],
  "draft: There is no such field": ["seedance-1-5-pro-251215: a draft"],
  "priority: There is no such field": ["dreamina-seedance-2-0-260128: a place further ahead"],
  "output_format: There is no such field": [
    "dreamina-seedance-2-5-260928: a video to edit, in another format"
  ],
  // One range of seconds holds for all models of a protocol.
  "is not offered: this model takes whole seconds": [
    "seedance-1-0-pro-250528: two seconds",
    "seedance-1-5-pro-251215: four seconds",
    "seedance-1-5-pro-251215: a length of its choice",
    "dreamina-seedance-2-0-260128: four seconds",
    "dreamina-seedance-2-0-260128: a length of its choice",
    "dreamina-seedance-2-5-260928: thirty seconds",
    "dreamina-seedance-2-5-260928: a length of its choice",
    "wan3.0-video: thirty seconds",
    "wan3.0-video: a length of its choice",
    "wan3.0-video-prime: a lone image of thirty silent seconds"
  ],
  "reference_voice: There is no such field": ["wan2.7-r2v-2026-06-12: a face with a voice"],
  'resolution "480p" is not offered': [
    "wan3.0-video: the least resolution, the widest ratio and two seconds"
  ],
  // How many come is the model's own choice, and images are paid for by their ordered number.
  "n is the field for the number of images": ["seedream-4-5-251128: a series of at most three"]
}
