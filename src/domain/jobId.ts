/** Ids of what is ordered: `vt_` for video tasks, `im_` for image requests, and a UUIDv7. */
const jobId = /^(?:vt|im)_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** True for text that can be the id of an order. */
export const isJobId = (text: string): boolean => jobId.test(text)
