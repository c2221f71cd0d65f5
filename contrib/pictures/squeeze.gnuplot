# A memory squeeze. data, picture, folder: see make.
load folder."/style.gnuplot"
set terminal svg size 900,640 font "Helvetica,Arial,sans-serif,14" background "#ffffff" name "squeeze"
of_alert(pattern) = system("sed -n 's/^# alert at \\([0-9.]*\\) s: \\(.*\\)/".pattern."/p' '".data."'")
alert_s = real(of_alert("\\1"))
# "memory some: stalled 335 ms in 1 s (limit 150 ms in 1 s) in GROUP; waiting: NAME[PID] 144 ms"
text = of_alert("\\2")
what = text[1:strstrt(text, " (limit") - 1]
where = text[strstrt(text, " (limit") + 1:(strstrt(text, "; waiting") > 0 ? strstrt(text, "; waiting") - 1 : strlen(text))]
who = strstrt(text, "; waiting") > 0 ? text[strstrt(text, "; waiting") + 2:strlen(text)] : ""
stats data using "seconds" nooutput
end_s = STATS_max
set xrange [0:end_s]
set lmargin 10
set rmargin 3
set multiplot

# --- pressure
set origin 0, 0.44
set size 1, 0.56
set tmargin at screen 0.83
set bmargin at screen 0.47
set yrange [0:100]
set ytics 25
set format y "%g %%"
set format x ""
set label 1 "{/=19 A memory squeeze: who waits, and since when}" at screen 0.012, 0.965 textcolor rgb ink
set label 2 "memory pressure, in % of each second:" at screen 0.012, 0.915 textcolor rgb "#555555"
set label 3 "{/:Bold all of the database waits}" at screen 0.012, 0.876 textcolor rgb red
set label 4 "{/:Bold some task in the machine waits}" at screen 0.255, 0.876 textcolor rgb blue
set label 5 "the kernel's own 10 s average of the first" at screen 0.545, 0.876 textcolor rgb ink
set arrow 1 from alert_s, 0 to alert_s, 100 nohead linecolor rgb ink linewidth 1.2 dashtype 3 front
set label 6 "{/:Bold alert}" at alert_s, 92 front textcolor rgb ink
set label 7 what at alert_s, 80 front textcolor rgb "#555555" noenhanced
set label 8 where at alert_s, 71 front textcolor rgb "#555555" noenhanced
set label 9 who at alert_s, 62 front textcolor rgb "#555555" noenhanced
# on that side of it where there is room
do for [i = 6:9] {
    if (alert_s > 0.4 * end_s) { set label i right offset -1, 0 } else { set label i left offset 1, 0 }
}
plot data using "seconds":"group_full_pct" with filledcurves y1=0 fillcolor rgb red fillstyle solid 0.4 noborder, \
     data using "seconds":"group_full_pct" with lines linecolor rgb red linewidth 1.5, \
     data using "seconds":"system_some_pct" with lines linecolor rgb blue linewidth 2, \
     data using "seconds":"group_full_avg10_pct" with lines linecolor rgb ink linewidth 1.2
unset label
unset arrow
set arrow 1 from alert_s, graph 0 to alert_s, graph 1 nohead linecolor rgb ink linewidth 1.2 dashtype 3 front

# --- the answers
set origin 0, 0.2
set size 1, 0.25
set tmargin at screen 0.40
set bmargin at screen 0.265
set logscale y
set yrange [0.03:3000]
set ytics ("0.1 ms" 0.1, "10 ms" 10, "1 s" 1000)
set label 1 "the database's slowest answer in that second" at screen 0.012, 0.428 textcolor rgb "#555555"
plot data using "seconds":(column("slowest_ms") > 0 ? column("slowest_ms") : NaN) with lines linecolor rgb ink linewidth 1.5
unset logscale y

# --- the limit
set origin 0, 0
set size 1, 0.24
set tmargin at screen 0.20
set bmargin at screen 0.065
set yrange [0:250]
set ytics ("0" 0, "100 MiB" 100, "200 MiB" 200)
set format x "%g s"
set label 1 "the memory that the database may have" at screen 0.012, 0.228 textcolor rgb "#555555"
# What the database needs, if its profile is there: what it touches within some 10 s.
needs = system("awk -F, '/^[0-9]/ && $4 <= 15 { mib = $5 / 1048576 } END { if (mib) print mib }' '".profile."' 2>/dev/null")
if (strlen(needs) > 0) {
    set arrow 2 from 0, real(needs) to end_s, real(needs) nohead linecolor rgb blue linewidth 1.2 dashtype 2 front
    set label 2 sprintf("its working set: %.0f MiB", real(needs)) at end_s, real(needs) offset 0, 0.7 right textcolor rgb blue
}
changes = "< awk -F, '!/^#/ && $2 + 0 && $2 != last { print; last = $2 }' '".data."'"
plot data using "seconds":"limit_mib" with steps linecolor rgb green linewidth 2.5, \
     changes using 1:2:(sprintf("%d MiB", $2)) with labels left offset 1.2, 0.7 textcolor rgb green
unset multiplot
