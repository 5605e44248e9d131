/** The API reference, which the gateway serves at `/docs`, in a frame of the console. */
import { Title, useComputedColorScheme, VisuallyHidden } from "@mantine/core"
import { useHash } from "@mantine/hooks"
import { useCallback, useEffect, useRef, useState } from "react"
import { useTranslation } from "react-i18next"

export default function DocsPage() {
  const { t } = useTranslation()
  const scheme = useComputedColorScheme("light", { getInitialValueInEffect: false })
  // An entry of the reference has the same fragment here as in the reference itself.
  const [hash] = useHash({ getInitialValueInEffect: false })
  const frame = useRef<HTMLIFrameElement>(null)
  const [isLoaded, setLoaded] = useState(false)

  /** Scalar takes its colors from these classes of the body. */
  const applyScheme = useCallback(() => {
    const classes = frame.current?.contentDocument?.body.classList
    classes?.toggle("dark-mode", scheme === "dark")
    classes?.toggle("light-mode", scheme === "light")
  }, [scheme])
  useEffect(applyScheme, [applyScheme])

  return (
    <>
      <VisuallyHidden>
        <Title order={1}>{t("pages.docs")}</Title>
      </VisuallyHidden>
      <iframe
        ref={frame}
        className="whole-page"
        title={t("pages.docs")}
        src={`/docs${hash}`}
        aria-busy={!isLoaded}
        onLoad={() => {
          applyScheme()
          setLoaded(true)
        }}
      />
    </>
  )
}
