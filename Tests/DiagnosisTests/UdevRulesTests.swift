import DescriptorIO
import Glibc
import SerialPort
import TestSupport
import Testing

@testable import Diagnosis

@Suite struct UdevRulesTests {
    private let root = TemporaryFolder()

    @Test(arguments: ["usr/lib/udev/rules.d", "usr/local/lib/udev/rules.d", "lib/udev/rules.d"])
    func `Rules in a folder of udev are found, and the example for brltty in that of the package`(folder: String) throws
    {
        let examples = "usr/share/doc/pumpctl/examples"
        try root.makeFolder(examples)
        try root.makeFolder(folder)
        let example = root.write("", to: "\(examples)/99-pumpctl-brltty.rules")
        #expect(UdevRules.installed(root: root.path).ports == nil)
        #expect(UdevRules.installed(root: root.path).brltty == nil)
        let ports = root.write("", to: "\(folder)/70-pumpctl-ports.rules")
        let brltty = root.write("", to: "\(folder)/99-pumpctl-brltty.rules")
        let installed = UdevRules.installed(root: root.path)
        #expect(installed.ports == ports)
        #expect(installed.brltty == brltty)
        #expect(installed.brlttyExample == example)
    }

    @Test func `A link to /dev/null in etc hides the rules of the package`() throws {
        for folder in ["etc/udev/rules.d", "usr/lib/udev/rules.d"] { try root.makeFolder(folder) }
        _ = root.write("", to: "usr/lib/udev/rules.d/70-pumpctl-ports.rules")
        let mask = "\(root.path)/etc/udev/rules.d/70-pumpctl-ports.rules"
        #expect(symlink("/dev/null", mask) == 0)
        let rules = UdevRules.installed(root: root.path)
        #expect(rules.ports == nil && rules.portsMask == mask)
    }

    @Test func `The vendors are those of the file with the rules`() throws {
        let package = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let text = try #require(TextFile.contents(of: "\(package)/hardware/udev/70-pumpctl-ports.rules"))
        let lists = text.matches(of: /idVendor}=="([^"]+)"/).map { $0.1.split(separator: "|") }
        #expect(lists.count == 2)
        for list in lists { #expect(Set(list.compactMap { UInt16($0, radix: 16) }) == UdevRules.vendors) }
    }

    @Test func `Hints name the installed files, and those of the source tree if none is installed`() {
        let installed = UdevRules(ports: "/usr/lib/udev/rules.d/70.rules", brlttyExample: "/usr/share/doc/99.rules")
        let brltty = "sudo systemctl disable --now brltty; or sudo cp --remove-destination "
        let copied = " /etc/udev/rules.d/, then plug the device in again"
        let latency = "echo 1 | sudo tee /sys/bus/usb-serial/devices/ptmx/latency_timer; "
        #expect(
            remedies(UdevRules()) == [
                brltty + "hardware/udev/99-pumpctl-brltty.rules" + copied,
                latency + "permanently: hardware/udev/70-pumpctl-ports.rules",
                "sudo cp hardware/udev/70-pumpctl-ports.rules /etc/udev/rules.d/ && sudo udevadm control --reload, "
                    + "then plug it in again",
            ])
        #expect(
            remedies(installed) == [
                brltty + "/usr/share/doc/99.rules" + copied,
                latency + "with /usr/lib/udev/rules.d/70.rules installed, plugging it in again does this",
                "plug it in again, so that /usr/lib/udev/rules.d/70.rules takes effect",
            ])
        // A copy would be written through the link.
        #expect(
            remedies(UdevRules(portsMask: "/etc/udev/rules.d/70.rules")).suffix(2) == [
                latency + "permanently: sudo rm /etc/udev/rules.d/70.rules, which disables the rule for it",
                "remove the link that disables the rule: sudo rm /etc/udev/rules.d/70.rules "
                    + "&& sudo udevadm control --reload, then plug it in again",
            ])
    }

    @Test func `For a vendor that the rules do not know, the hint is a rule for it`() {
        for rules in [UdevRules(), UdevRules(ports: "/usr/lib/udev/rules.d/70.rules")] {
            #expect(
                remedies(rules, vendor: 0x2E8A).last
                    == #"echo 'SUBSYSTEM=="usb", ATTR{idVendor}=="2e8a", ENV{ID_MM_DEVICE_IGNORE}="1"' | "#
                    + "sudo tee /etc/udev/rules.d/70-modemmanager-2e8a.rules && sudo udevadm control --reload, "
                    + "then plug it in again")
        }
    }

    /// The remedies that have to do with rules, for a computer with brltty and ModemManager and a slow adapter.
    private func remedies(_ rules: UdevRules, vendor: UInt16 = 0x0403) -> [String?] {
        var port = SerialPortInfo(path: "/dev/ptmx")
        port.usb = SerialPortInfo.USB(USBIdentifier(vendor: vendor, product: 0x6001), physicalPath: "1-2")
        port.latencyTimer = 16
        let programs: Set = ["brltty", "ModemManager"]
        let system = SystemCheckup(
            programs: programs, ports: [port], devicesWithoutPort: [], kernel: .running(), libraries: .loaded(),
            rules: rules)
        let checkup = PortCheckup(
            port: port, use: PortUse(path: port.path, holders: [], lockFiles: []), processes: (seen: 1, unseen: 0),
            baudRate: nil, programs: programs, rules: rules)
        return (system.findings + checkup.findings).filter { [.brltty, .latency, .modemManager].contains($0.check) }
            .map { $0.remedy?.description }
    }
}
