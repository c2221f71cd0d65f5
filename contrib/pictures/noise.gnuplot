# The noise of CPUs 0 and 1, by source. data, picture, folder: see make. The columns are the seconds, then
# the sources of CPU 0, in heaping order, then the same of CPU 1, named as "cpu1 thread_disturber".
load folder."/style.gnuplot"
set terminal svg size 900,440 font "Helvetica,Arial,sans-serif,14" background "#ffffff" name "noise"
comment(pattern) = system("sed -n 's/^# ".pattern."/\\1/p' '".data."'")
names = system("sed '/^#/d; q' '".data."' | tr ',' '\\n' | sed -n 's/^cpu0 //p'")
count = words(names)
colours = sprintf("%s %s %s %s %s", blue, sky, green, orange, "#cc79a7")
# What is known of everywhere has a colour of its own.
colour(i) = word(names, i) eq "others" ? grey : \
    word(names, i) eq "thread_disturber" ? red : word(colours, i)
pretty(name) = strstrt(name, "_") == 0 ? name : name[1:strstrt(name, "_") - 1]." ".name[strstrt(name, "_") + 1:*]
first(cpu) = 2 + cpu * count
# All of a CPU's sources up to the i-th
heap(cpu, i) = (sum [k = first(cpu):first(cpu) + i - 1] (valid(k) ? column(k) : 0))
stats data using 1 every ::1 name "time" nooutput
stats data using (heap(1, count)) every ::1 name "top" nooutput
set xrange [0:time_max]
set yrange [0:top_max * 1.3]
set format x "%g s"
set lmargin 0
set rmargin 0
set tmargin at screen 0.70
set bmargin at screen 0.10
set multiplot
set label 1 "{/=19 Noise of two CPUs, by source, while a thread disturbs one of them}" at screen 0.012, 0.945 textcolor rgb ink
set label 2 "in % of each second; ".comment("where: \\(.*\\)") at screen 0.012, 0.875 textcolor rgb "#555555" noenhanced
# Upside down, as it is heaped.
x = 0.012
do for [i = count:1:-1] {
    set label 10 + i pretty(word(names, i)) at screen x, 0.805 textcolor rgb colour(i) noenhanced
    x = x + strlen(word(names, i)) * 0.0097 + 0.024
}
do for [cpu = 0:1] {
    if (cpu == 1) {
        unset label
        set format y ""
    } else {
        set format y "%g %%"
    }
    set label 3 sprintf("{/:Bold CPU %d}", cpu) at graph 0.02, 0.95 textcolor rgb ink front
    set origin 0, 0
    set lmargin at screen 0.075 + cpu * 0.47
    set rmargin at screen 0.505 + cpu * 0.47
    plot for [i = count:1:-1] data using 1:(heap(cpu, i)) every ::1 with filledcurves y1=0 fillcolor rgb colour(i) fillstyle solid 1 noborder
}
unset multiplot
