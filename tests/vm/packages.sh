# What tests/vm needs on the host, for `./x` and run.sh to source.
#
# vm_packages: Debian packages to install. busybox-static becomes the guest's user land, jq reads
#   records in the guest, cpio packs the initramfs.
# vm_kernel_package: only downloaded and unpacked below .build/vm, never installed on the host.
# vm_programs: the programs that show that vm_packages are there.
# shellcheck disable=SC2034
vm_packages='qemu-system-x86 cpio busybox-static jq'
vm_kernel_package=linux-image-cloud-amd64
vm_programs='qemu-system-x86_64 cpio busybox jq'
