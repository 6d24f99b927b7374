// Checks the links of a serial port against the contract of links, as you can check a link of your own: check-link
import DeviceTestKit
import Glibc
import SerialPort
import Transports

// A terminal discards the last bytes of a device that vanishes.
let contract = LinkContract(abilities: .all.subtracting(.keepsLastBytes)) {
    let terminal = try PseudoTerminal()
    let link = try await LinkSchemes.standard.open(Endpoint(terminal.path))
    return (link, DescriptorFarEnd(taking: terminal.descriptor) { terminal.close() })
}
let findings = await contract.findings()
for finding in findings { print(finding) }
print("\(LinkContract.requirements.count) requirements checked")
if !findings.isEmpty { exit(1) }
