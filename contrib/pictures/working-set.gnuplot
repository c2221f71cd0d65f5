# The profile of a working set. data, picture, folder: see make.
load folder."/style.gnuplot"
set terminal svg size 900,440 font "Helvetica,Arial,sans-serif,14" background "#ffffff" name "workingset"
mib(name) = column(name) / 1048576
stats data using (mib("rss_bytes")) name "rss" nooutput
stats data using "window_s" name "window" nooutput
# The knee: the last window that is no longer than 15 s; its seconds and its MiB.
of_knee(field) = real(system("awk -F, '/^[0-9]/ && $4 <= 15 { knee = ".field." } END { print knee }' '".data."'"))
knee_s = of_knee("$4")
knee_mib = of_knee("$5 / 1048576")
set lmargin 10
set rmargin 3
set tmargin at screen 0.80
set bmargin at screen 0.13
set logscale x
set xrange [window_min * 0.95:window_max * 1.05]
set yrange [0:rss_max * 1.12]
set xtics ("0.1 s" 0.1, "1 s" 1, "10 s" 10, "1 min" 60, "10 min" 600)
set ytics 50
set format y "%g MiB"
set label 1 sprintf("{/=19 A database that holds %.0f MiB works in %.0f of them}", rss_max, knee_mib) at screen 0.012, 0.945 textcolor rgb ink
set label 2 "memory touched within a time, by headroom wss -P" at screen 0.012, 0.87 textcolor rgb "#555555"
set label 3 "{/:Bold resident}" at graph 0.015, first rss_max offset 0, 0.8 textcolor rgb grey
set label 4 sprintf("{/:Bold touched within %.0f s: %.0f MiB}", knee_s, knee_mib) at first knee_s, knee_mib offset -1, 1.3 right textcolor rgb blue
set label 5 "its busy part, again and again: the curve levels off" at first knee_s, knee_mib offset -1, 2.7 right textcolor rgb "#555555"
set arrow 1 from first knee_s, 0 to knee_s, knee_mib nohead linecolor rgb blue linewidth 1 dashtype 3
plot data using "window_s":(mib("rss_bytes")) with lines linecolor rgb grey linewidth 2, \
     data using "window_s":(mib("referenced_bytes")) with filledcurves y1=0 fillcolor rgb blue fillstyle solid 0.12 noborder, \
     data using "window_s":(mib("referenced_bytes")) with linespoints linecolor rgb blue linewidth 2.5 pointtype 7 pointsize 0.6
