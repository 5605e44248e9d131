/** Ids of what is ordered: `vt_` video tasks, `im_` images, `tx_` texts, each with a UUIDv7. */
const jobId = /^(?:vt|im|tx)_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** True for text that can be the id of an order. */
export const isJobId = (text: string): boolean => jobId.test(text)
