dnl Macros of collectd-headroom's configure.

dnl HR_INSTRUMENT(NAME, WHAT, FLAGS)
dnl --enable-NAME adds FLAGS to compiler and linker.
AC_DEFUN([HR_INSTRUMENT], [
  AC_ARG_ENABLE([$1],
    [AS_HELP_STRING([--enable-$1], [build with $2 (default: no)])],
    [], [enable_$1=no])
  AS_IF([test "x$enable_$1" = xyes], [
    HEADROOM_CFLAGS="$HEADROOM_CFLAGS $3"
    HEADROOM_LDFLAGS="$HEADROOM_LDFLAGS $3"
    hr_instruments="$hr_instruments $1"
  ])
])

dnl HR_NEEDS(VARIABLE, NAME, PACKAGE)
dnl Looks for a library by pkg-config; sets have_VARIABLE to yes or no. NAME is
dnl what the summary calls it.
AC_DEFUN([HR_NEEDS], [
  PKG_CHECK_MODULES([$1], [$3], [have_$1=yes], [have_$1=no])
  m4_define([HR_NAME_$1], [$2])
])

dnl HR_NEEDS_FILES(VARIABLE, NAME, HEADER, LIBRARY, FUNCTION)
dnl The same for a library without a file of pkg-config's: looks for its header
dnl and a function in it; sets have_VARIABLE and VARIABLE_LIBS.
AC_DEFUN([HR_NEEDS_FILES], [
  AC_ARG_VAR([$1_LIBS], [linker flags for $4])
  have_$1=no
  AC_CHECK_HEADER([$3], [
    AS_IF([test -n "$$1_LIBS"], [have_$1=yes],
      [AC_CHECK_LIB([$4], [$5], [have_$1=yes; $1_LIBS=-l$4])])])
  m4_define([HR_NAME_$1], [$2])
])

dnl HR_PART(NAME, WHAT, REQUIREMENTS)
dnl A part of the package that can be left out: a plugin or a program.
dnl --enable-NAME=yes fails where something is missing, auto (the default) leaves
dnl the part out and the summary says what it lacks. REQUIREMENTS are variables
dnl of HR_NEEDS, or others for which have_VARIABLE and HR_NAME_VARIABLE are set.
AC_DEFUN([HR_PART], [
  AC_ARG_ENABLE([$1],
    [AS_HELP_STRING([--enable-$1], [build $2 (yes, no, auto; default: auto)])],
    [], [enable_$1=auto])
  hr_lacks=
  m4_foreach_w([hr_need], [$3], [
    AS_IF([test "x$have_]hr_need[" != xyes], [hr_lacks="$hr_lacks, ]m4_indir([HR_NAME_]hr_need)["])])
  hr_lacks=`AS_ECHO(["$hr_lacks"]) | sed 's/^, //'`
  AS_CASE(["$enable_$1:$hr_lacks"],
    [no:*], [build_$1=no; hr_row="no (switched off)"],
    [yes:?*], [AC_MSG_ERROR([--enable-$1: missing $hr_lacks])],
    [auto:?*], [build_$1=no; hr_row="no (missing $hr_lacks)"],
    [yes:|auto:], [build_$1=yes; hr_row=yes],
    [AC_MSG_ERROR([--enable-$1 takes yes, no or auto])])
  AM_CONDITIONAL([BUILD_]m4_toupper([$1]), [test "x$build_$1" = xyes])
  hr_summary="$hr_summary
  m4_format([%-22s], [$2]) $hr_row"
])
