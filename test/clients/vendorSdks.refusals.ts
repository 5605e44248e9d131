/**
 * Rows that cannot be ordered, by what is said of them. A row that can be ordered after all must go
 * from its list, and no row outside may fail: so the lists can only shrink.
 */
import type { KnownFaults } from "../support/knownFaults.ts"

/** What the simulated vendors refuse although the real ones take it. */
export const atVendor: KnownFaults = {
  "parameter `duration` specified in the request is not valid": [
    "seedance-1-0-pro-250528: two seconds",
    "dreamina-seedance-2-5-260928: thirty seconds"
  ],
  "has audio without an image or a video": ["dreamina-seedance-2-5-260928: sound alone"],
  "has more than 9 image_url blocks": ["dreamina-seedance-2-5-260928: ten reference images"],
  "Field not supported by the model: parameters.audio": [
    "wan2.6-t2v: sound, which it has anyway",
    "wan2.6-i2v: sound, which it has anyway",
    "wan3.0-video: a silent text"
  ],
  "Field not supported by the model: input.negative_prompt": [
    "wan2.6-i2v: what is not to be seen",
    "wan2.6-r2v: sound, and what is not to be seen",
    "wan2.6-r2v-flash: sound, and what is not to be seen",
    "wan2.7-r2v: what is not to be seen"
  ],
  "Field not supported by the model: input.media[0].reference_voice": [
    "wan2.7-r2v-2026-06-12: a face with a voice"
  ],
  "Field not supported by the model: input.media": [
    "wan3.0-video: a lone image in its own ratio",
    "wan3.0-video: first and last frame",
    "wan3.0-video: reference images and a video",
    "wan3.0-video: references of all kinds",
    "wan3.0-video-prime: a lone image of thirty silent seconds"
  ],
  "Field not valid: parameters.resolution": [
    "wan3.0-video: the least resolution, the widest ratio and two seconds"
  ],
  "Field not valid: parameters.duration": [
    "wan3.0-video: thirty seconds",
    "wan3.0-video: a length of its choice"
  ]
}

/** What a vendor's own package can order of it, and a client of the gateway cannot. */
export const atGateway: KnownFaults = {
  // The gateway sends the role of a reference, which makes another video.
  "body.content is ": [
    "seedance-1-0-pro-250528: a lone image, which has no role",
    "seedance-1-5-pro-251215: a lone image, which has no role",
    "dreamina-seedance-2-0-260128: a lone image, which has no role",
    "seedance-1-0-pro-fast-251015: a lone image",
    "dreamina-seedance-2-0-260128: a lone image as bytes",
    "dreamina-seedance-2-0-260128: an image without words"
  ],
  // It halves the bill, and has no price.
  "service_tier: There is no such field": [
    "seedance-1-0-pro-250528: the slow and cheap tier",
    "seedance-1-5-pro-251215: the slow and cheap tier",
    "seedance-1-0-pro-250528: the usual tier by its name",
    "seedance-1-5-pro-251215: the usual tier by its name"
  ],
  "return_last_frame: There is no such field": [
    "seedance-1-5-pro-251215: the last frame of the video",
    "dreamina-seedance-2-0-260128: the last frame of the video"
  ],
  "draft: There is no such field": ["seedance-1-5-pro-251215: a draft"],
  "priority: There is no such field": ["dreamina-seedance-2-0-260128: a place further ahead"],
  "omni_reference_task_type: There is no such field": [
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
  "has audio without an image or a video": ["dreamina-seedance-2-5-260928: sound alone"],
  "has more than 9 image_url blocks": ["dreamina-seedance-2-5-260928: ten reference images"],
  "negative_prompt: This model has no such field": [
    "wan2.6-i2v: what is not to be seen",
    "wan2.6-r2v: sound, and what is not to be seen",
    "wan2.6-r2v-flash: sound, and what is not to be seen",
    "wan2.7-r2v: what is not to be seen"
  ],
  "reference_voice: There is no such field": ["wan2.7-r2v-2026-06-12: a face with a voice"],
  "body.parameters.audio is undefined, not false": ["wan3.0-video: a silent text"],
  'resolution "480p" is not offered': [
    "wan3.0-video: the least resolution, the widest ratio and two seconds"
  ],
  "Field not supported by the model: input.media": [
    "wan3.0-video: a lone image in its own ratio",
    "wan3.0-video: first and last frame",
    "wan3.0-video: reference images and a video",
    "wan3.0-video: references of all kinds"
  ],
  // How many come is the model's own choice, and images are paid for by their ordered number.
  "n is the field for the number of images": ["seedream-4-5-251128: a series of at most three"]
}
