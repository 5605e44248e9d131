/**
 * A plot whose library is loaded with the first plot. Its space is reserved while the library
 * loads.
 */
import { Skeleton } from "@mantine/core"
import { lazy, Suspense } from "react"
import { useTranslation } from "react-i18next"
import type { PlotProps } from "./Plot.tsx"

const Plot = lazy(() => import("./Plot.tsx"))
const HEIGHT = 220

type Props = Omit<PlotProps, "height"> & { readonly height?: number }

export const TimePlot = ({ height = HEIGHT, ...plot }: Props) => {
  const { t } = useTranslation()
  return (
    <Suspense fallback={<Skeleton height={height} role="status" aria-label={t("loading")} />}>
      <Plot {...plot} height={height} />
    </Suspense>
  )
}
