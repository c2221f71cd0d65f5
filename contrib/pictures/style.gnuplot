# What the pictures share. Colours that the colour-blind can distinguish (Okabe and Ito), on white whatever
# is around.
set encoding utf8
set datafile separator comma
blue = "#0072b2"; sky = "#56b4e9"; red = "#d55e00"; orange = "#e69f00"; green = "#009e73"; grey = "#8a8a8a"; ink = "#222222"
set border 3 linecolor rgb "#9a9a9a" linewidth 0.8
set tics nomirror scale 0.4 textcolor rgb "#444444"
set grid ytics linetype 1 linewidth 0.6 linecolor rgb "#e6e6e6"
unset key
set output picture
