//! How a picture looks, by day and by night. Served and refused differ in colour and in shape, the
//! two limits in colour and in stroke.

pub(super) const SHEET: &str = "\
text { font-family: system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif; fill: #1f2937 }
.title { font-size: 18px; font-weight: 600 }
.policy { font-size: 14px; font-weight: 600 }
.note { font-size: 12px; fill: #4b5563 }
.tick, .pile { font-size: 11px; fill: #6b7280 }
.pile { font-size: 9px }
.bad, .pile { fill: #c2410c }
.paper { fill: #ffffff }
.grid { stroke: #e5e7eb; stroke-width: 1 }
.rate { fill: #bfdbfe }
.cut { fill: #2563eb }
.served { stroke: #2563eb; stroke-width: 1 }
.one { stroke-opacity: 0.6 }
.some { stroke-opacity: 0.8 }
.refused { stroke: #d9480f; stroke-width: 1.5; fill: none }
.limit { stroke: #111827; stroke-width: 1.5; stroke-dasharray: 6 4; fill: none }
.believed { stroke: #9333ea; stroke-width: 2; fill: none; stroke-linejoin: round }
.outage { fill: #9ca3af; fill-opacity: 0.25 }
.end { stroke: #6b7280; stroke-width: 1.5 }
.ideal { stroke: #059669; stroke-width: 1.5; stroke-dasharray: 2 3 }
@media (prefers-color-scheme: dark) {
  text { fill: #f3f4f6 }
  .note { fill: #d1d5db }
  .tick { fill: #9ca3af }
  .bad, .pile { fill: #fb923c }
  .paper { fill: #111827 }
  .grid { stroke: #1f2937 }
  .rate { fill: #1e3a8a }
  .cut { fill: #60a5fa }
  .served { stroke: #60a5fa }
  .refused { stroke: #fb923c }
  .limit { stroke: #f9fafb }
  .believed { stroke: #c084fc }
  .outage { fill: #6b7280; fill-opacity: 0.35 }
  .end { stroke: #9ca3af }
  .ideal { stroke: #34d399 }
}
";
