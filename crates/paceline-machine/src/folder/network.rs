//! Which file systems reach over more than one machine, or do not keep to the rules of one.
//!
//! On those a lock is not seen by others, a mapped page is not theirs, and a named pipe leads nowhere.

use std::os::fd::OwnedFd;

use rustix::fs::Stat;

/// The kind of file system that `folder` is on, if it is not of this machine alone.
#[cfg(target_os = "linux")]
pub(super) fn kind(folder: &OwnedFd, stat: &Stat) -> Option<String> {
    let system = rustix::fs::fstatfs(folder).ok()?;
    // The word's width differs by architecture; the numbers have 32 bits.
    let magic = system.f_type as u32;
    if magic == FUSE {
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
        let (major, minor) = (
            rustix::fs::major(stat.st_dev),
            rustix::fs::minor(stat.st_dev),
        );
        return mounted_as(&mounts, major, minor)
            .filter(|kind| is_network_fuse(kind))
            .map(str::to_owned);
    }
    KINDS
        .iter()
        .find(|(known, _)| *known == magic)
        .map(|(_, kind)| (*kind).to_owned())
}

/// The kind of file system that `folder` is on, if it is not of this machine alone.
#[cfg(target_os = "macos")]
pub(super) fn kind(folder: &OwnedFd, _stat: &Stat) -> Option<String> {
    /// `MNT_LOCAL` of `<sys/mount.h>`.
    const LOCAL: u32 = 0x1000;

    let system = rustix::fs::fstatfs(folder).ok()?;
    (system.f_flags & LOCAL == 0).then(|| "not local".to_owned())
}

/// Not asked for elsewhere.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub(super) fn kind(_folder: &OwnedFd, _stat: &Stat) -> Option<String> {
    None
}

#[cfg(target_os = "linux")]
const FUSE: u32 = 0x6573_5546;

/// By the numbers of statfs(2) and `linux/magic.h`; the last four share a folder between a machine and its guests.
#[cfg(target_os = "linux")]
const KINDS: &[(u32, &str)] = &[
    (0x6969, "nfs"),
    (0x517b, "smb"),
    (0xff53_4d42, "cifs"),
    (0xfe53_4d42, "smb2"),
    (0x5346_414f, "afs"),
    (0x6b41_4653, "afs"),
    (0x00c3_6400, "ceph"),
    (0x0bd0_0bd0, "lustre"),
    (0x7375_7245, "coda"),
    (0x564c, "ncp"),
    (0x0116_1970, "gfs2"),
    (0x7461_636f, "ocfs2"),
    (0x4750_4653, "gpfs"),
    (0x1983_0326, "beegfs"),
    (0x2003_0528, "orangefs"),
    (0xaad7_aaea, "panfs"),
    (0x0102_1997, "9p"),
    (0x786f_4256, "vboxsf"),
    (0xbacb_acbc, "vmhgfs"),
    (0x7c7c_6673, "prl_fs"),
];

/// File systems in user space are known by the name they are mounted as. One that is not here is taken to be local.
#[cfg(target_os = "linux")]
fn is_network_fuse(kind: &str) -> bool {
    const NAMES: &[&str] = &[
        "sshfs",
        "rclone",
        "s3fs",
        "gcsfuse",
        "goofys",
        "geesefs",
        "mount-s3",
        "blobfuse",
        "blobfuse2",
        "glusterfs",
        "ceph",
        "ceph-fuse",
        "curlftpfs",
        "davfs",
        "davfs2",
        "smbnetfs",
        "juicefs",
        "JuiceFS",
        "mfs",
        "moosefs",
        "seaweedfs",
        "weed",
        "gvfsd-fuse",
        "grpcfuse",
        "google-drive-ocamlfuse",
        "onedriver",
        "lizardfs",
        "vmhgfs-fuse",
        "hdfs",
        "beegfs",
        "kbfs",
        "keybase",
        "afp",
        "afpfs",
    ];
    kind == "virtiofs" || NAMES.contains(&kind.strip_prefix("fuse.").unwrap_or(kind))
}

/// The kind of what is mounted from this device, in the words of proc(5), `/proc/pid/mountinfo`.
#[cfg(target_os = "linux")]
fn mounted_as(mounts: &str, major: u32, minor: u32) -> Option<&str> {
    let device = format!("{major}:{minor}");
    mounts.lines().find_map(|line| {
        // Fields before the dash are of variable number, those after it are not.
        let (before, after) = line.split_once(" - ")?;
        (before.split(' ').nth(2)? == device).then(|| after.split(' ').next())?
    })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
21 1 254:0 / / rw,relatime - ext4 /dev/vda rw
36 21 0:45 / /home/a/far rw,nosuid,nodev shared:7 master:2 - fuse.sshfs a@far:/ rw,user_id=1000
37 21 0:46 / /home/a/near rw - fuse.bindfs /srv rw
38 21 0:47 / /host rw - virtiofs host rw
";

    #[test]
    fn a_file_system_in_user_space_is_known_by_what_it_is_mounted_as() {
        let far = |minor| mounted_as(MOUNTS, 0, minor).filter(|kind| is_network_fuse(kind));
        assert_eq!(far(45), Some("fuse.sshfs"));
        assert_eq!(far(46), None, "bindfs shows a folder of this machine");
        assert_eq!(far(47), Some("virtiofs"));
        assert_eq!(far(48), None, "nothing is mounted from it");
    }

    #[test]
    fn a_local_disk_and_a_file_system_in_memory_are_local() {
        for path in ["/", "/dev/shm"] {
            let Ok(folder) = std::fs::File::open(path) else {
                continue;
            };
            let folder = OwnedFd::from(folder);
            let stat = rustix::fs::fstat(&folder).expect("it is open");
            assert_eq!(kind(&folder, &stat), None, "{path}");
        }
    }
}
