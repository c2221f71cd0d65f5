# A leak, and its forecast. data, picture, folder: see make.
load folder."/style.gnuplot"
set terminal svg size 900,560 font "Helvetica,Arial,sans-serif,14" background "#ffffff" name "leak"
of_event(event, pattern) = system("sed -n 's/^# ".event." at \\([0-9]*\\) s: \\(.*\\)/".pattern."/p' '".data."' | head -n 1")
minute = 60.0
end_min = real(system("sed -n 's/^# ended at \\([0-9]*\\) s/\\1/p' '".data."'")) / minute
alert_min = real(of_event("alert", "\\1")) / minute
# "memory: trouble in 18 min in GROUP: needs 160 MiB of 256 MiB (its own limit, memory.max), grows 5.8 MiB/min; taking: …"
alert = of_event("alert", "\\2")
colon = strstrt(alert, " in headroom-picture")
first = alert[1:colon - 1]
rest = alert[colon + 1:*]
rest = rest[strstrt(rest, ": ") + 2:(strstrt(rest, ";") > 0 ? strstrt(rest, ";") - 1 : strlen(rest))]
comma = strstrt(rest, ", grows")
second = rest[1:(strstrt(rest, " (") > 0 ? strstrt(rest, " (") - 1 : comma - 1)]
third = rest[comma + 2:*]
set lmargin 10
set rmargin 3
last_min = ceil(end_min / 5 + 1) * 5
set xrange [0:last_min]
set multiplot

# --- memory
set origin 0, 0.46
set size 1, 0.54
set tmargin at screen 0.84
set bmargin at screen 0.50
set yrange [0:300]
set ytics ("0" 0, "100 MiB" 100, "200 MiB" 200)
set format x ""
set label 1 "{/=19 A leak: its end, as it was forecast}" at screen 0.012, 0.955 textcolor rgb ink
set label 2 "{/:Bold memory of the group}" at screen 0.012, 0.885 textcolor rgb blue
set label 3 "{/:Bold its limit}" at screen 0.225, 0.885 textcolor rgb green
set arrow 1 from alert_min, 0 to alert_min, 300 nohead linecolor rgb ink linewidth 1.2 dashtype 3 front
set label 6 "{/:Bold alert}" at alert_min, 228 right offset -1, 0 front textcolor rgb ink
set label 7 first at alert_min, 200 right offset -1, 0 front textcolor rgb "#555555" noenhanced
set label 8 second at alert_min, 174 right offset -1, 0 front textcolor rgb "#555555" noenhanced
set label 10 third at alert_min, 148 right offset -1, 0 front textcolor rgb "#555555" noenhanced
set arrow 2 from end_min, 0 to end_min, 300 nohead linecolor rgb red linewidth 2 front
set label 9 "{/:Bold killed}" at end_min, 280 left offset 0.7, 0 front textcolor rgb red
plot data using (column("seconds") / minute):"limit_mib" with lines linecolor rgb green linewidth 2.5, \
     data using (column("seconds") / minute):"need_mib" with lines linecolor rgb blue linewidth 2.5
unset label
unset arrow

# --- the forecast
set origin 0, 0
set size 1, 0.48
set tmargin at screen 0.38
set bmargin at screen 0.09
set yrange [0:1.6 * last_min]
set ytics 20
set format y "%g min"
set format x "%g min"
set arrow 1 from alert_min, 0 to alert_min, 1.6 * last_min nohead linecolor rgb ink linewidth 1.2 dashtype 3 front
set arrow 2 from 0, end_min to end_min, end_min nohead linecolor rgb red linewidth 1.5 front
set label 1 "when it will be at its limit, by what was known by then, later with an interval for nine of ten" at screen 0.012, 0.43 textcolor rgb "#555555"
set label 2 "when the kernel killed it" at 1, end_min offset 0, -0.8 textcolor rgb red
at(name) = (column("seconds") + column(name)) / minute
plot data using (column("seconds") / minute):(at("early_s")):(at("late_s")) with filledcurves fillcolor rgb blue fillstyle solid 0.25 noborder, \
     data using (column("seconds") / minute):(at("trouble_s")) with lines linecolor rgb blue linewidth 2.5
unset multiplot
