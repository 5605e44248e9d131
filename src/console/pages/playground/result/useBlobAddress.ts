import { useEffect, useState } from "react"

/** An object URL for a blob, which is revoked when the blob is no longer shown. */
export const useBlobAddress = (blob: Blob | undefined): string | null => {
  const [address, setAddress] = useState<string | null>(null)
  useEffect(() => {
    if (blob === undefined) return
    const objectUrl = URL.createObjectURL(blob)
    setAddress(objectUrl)
    return () => URL.revokeObjectURL(objectUrl)
  }, [blob])
  return address
}
