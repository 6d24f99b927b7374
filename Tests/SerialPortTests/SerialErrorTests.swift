import Glibc
import Testing

@testable import SerialPort

@Suite struct SerialErrorTests {
    @Test(arguments: [
        (ENOENT, SerialError.Code.noSuchPort), (ENXIO, .noSuchPort), (ENODEV, .noSuchPort), (EIO, .noSuchPort),
        (EISDIR, .notATerminal), (EACCES, .notPermitted), (EPERM, .notPermitted), (EBUSY, .busy(holder: nil)),
        (EMFILE, .system),
    ])
    func `Each open(2) error maps to its own error code`(errno: Int32, code: SerialError.Code) {
        let error = SerialError(opening: "/dev/no-such-port", errno: errno)
        #expect(error.code == code)
        #expect(error.errno == errno)
    }

    @Test(arguments: [
        (EIO, SerialError.Code.disconnected), (ENODEV, .disconnected), (ENXIO, .disconnected), (ENOTTY, .unsupported),
        (EOPNOTSUPP, .unsupported), (EACCES, .notPermitted), (EBUSY, .busy(holder: nil)), (ENOMEM, .system),
    ])
    func `Each error of an open port maps to its own error code`(errno: Int32, code: SerialError.Code) {
        #expect(SerialError(errno: errno, activity: "reading from", path: "port").code == code)
    }

    @Test(arguments: [
        ("/dev/ttyUSB0", true), ("/dev/pump", true), ("/dev/pts/7", false), ("/tmp/p", false), ("p", false),
    ])
    func `Hints mention a cable and plugging for serial ports, not for pseudo-terminals`(
        path: String, isPlugged: Bool
    ) {
        #expect(SerialError(opening: path, errno: ENOENT).hint?.contains("cable") == isPlugged)
        #expect(SerialError(errno: EIO, activity: "reading", path: path).hint?.contains("plug") == isPlugged)
    }

    @Test func `The hint names the group of the node as the one to join`() {
        #expect(
            NodePermissions(owner: "root", group: "uucp", isAdmitted: false).hint("/dev/ttyUSB0")
                == "join the port's group, then log in again: sudo usermod -aG uucp $USER")
        #expect(
            NodePermissions(owner: "root", group: nil, isAdmitted: false).hint("/dev/ttyUSB0").contains("udev rule"))
        #expect(NodePermissions(path: "/dev/no-such-port") == nil)
    }

    @Test func `A user whom the node admits is not told to join its group`() {
        let hint = NodePermissions(owner: "root", group: "dialout", isAdmitted: true).hint("/dev/ttyUSB0")
        #expect(hint.contains("docker run --device /dev/ttyUSB0") && !hint.contains("usermod"))
    }

    @Test func `A device cgroup refuses with EPERM, and joining a group does not help`() {
        let node = NodePermissions(owner: "root", group: "dialout", isAdmitted: false)
        #expect(node.hint("/dev/ttyS0", after: EPERM).hasSuffix("or DeviceAllow=/dev/ttyS0 rw in its unit"))
        #expect(node.joinableGroup(after: EPERM) == nil && node.joinableGroup(after: EACCES) == "dialout")
    }

    @Test(
        arguments: [
            (0o600, true, false), (0o660, true, true), (0o400, false, false), (0o060, false, true),
        ] as [(mode_t, Bool, Bool)])
    func `Only the owner's bits count for the owner of a node, and the group's for other members`(
        mode: mode_t, admitsOwner: Bool, admitsMember: Bool
    ) {
        var node = stat()
        (node.st_mode, node.st_uid, node.st_gid) = (mode, 4711, getegid())
        // 6 asks for reading and writing.
        #expect(NodePermissions.admits(4711, node, 6) == admitsOwner)
        #expect(NodePermissions.admits(4710, node, 6) == admitsMember)
    }

    @Test(.enabled(if: geteuid() == 0))
    func `No hint suggests the group of root, a nameless group, or one without access`() throws {
        let terminal = try PseudoTerminal()
        for (group, mode) in [(0, 0o660), (65534, 0o660), (12345, 0o660), (5, 0o640)] {
            #expect(chown(terminal.path, 0, gid_t(group)) == 0 && chmod(terminal.path, mode_t(mode)) == 0)
            #expect(NodePermissions(path: terminal.path)?.group == nil)
        }
        #expect(chmod(terminal.path, 0o660) == 0)
        #expect(NodePermissions(path: terminal.path)?.group == "tty")
        #expect(NodePermissions(owner: "bob", isAdmitted: false).hint(terminal.path).hasSuffix(": sudo -u bob"))
    }

    @Test func `The hint on an unseen holder suggests sudo, except to root`() {
        let path = "/dev/ttyUSB0"
        #expect(SerialError.hint(onUnseenHolderOf: path, seesAll: false).hasSuffix("sudo fuser -v /dev/ttyUSB0"))
        #expect(!SerialError.hint(onUnseenHolderOf: path, seesAll: true).contains("sudo"))
    }

    @Test func `An error's description is one line with the holder, the errno and the hint`() {
        let holder = PortHolder(processID: 4711, command: "minicom", holdsLock: true)
        let error = SerialError(
            .busy(holder: holder), errno: EBUSY, activity: "opening", path: "/dev/ttyUSB0", hint: "stop minicom")
        #expect(
            error.description
                == "opening /dev/ttyUSB0: busy: open in minicom (pid 4711) (Device or resource busy); stop minicom")
    }

    @Test func `Each refused setting is described with the asked and the taken value`() {
        let asked = SerialOptions(baudRate: 250_000, parity: .even)
        let error = SerialError(
            .settingsRefused(asked: asked, taken: SerialOptions()), activity: "opening", path: "/dev/ttyUSB0")
        #expect(error.description.contains("requested 250000 baud, but the driver chose 9600 baud"))
        #expect(error.description.contains("requested parity even, but the driver chose parity none"))
    }
}
