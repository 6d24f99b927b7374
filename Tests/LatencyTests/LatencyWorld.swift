import DeviceTestKit
import FirmwareSim
import LineProtocol
import TestSupport

@testable import Latency

/// A simulated device, its carrier to the host, and a measurement, in simulated time.
final class LatencyWorld<Device: SimulatedDevice>: @unchecked Sendable {
    // @unchecked: used on the simulated loop's thread only.

    /// The carrier between device and host.
    enum Carrier {
        /// A serial line that passes each byte on at once.
        case wire
        /// A serial adapter that passes the collected bytes on with the period of its timer.
        case adapter(Duration)
        /// BLE with its connection interval, and packets of 20 bytes.
        case radio(Duration)
    }

    let loop = SimulatedLoop()
    var device: Device
    private let carrier: Carrier
    private(set) var link: SimulatedLink!
    private(set) var written: [String] = []
    /// Called with each write; returns the bytes that reach the device.
    var onWrite: (String) -> String? = { $0 }
    /// Output of the device that the adapter or the BLE module has not passed on yet.
    private var held: [UInt8] = []
    private var isFlushing = false

    init(_ device: Device, over carrier: Carrier = .wire) {
        (self.device, self.carrier) = (device, carrier)
        loop.device = SimulatedLoop.Device(
            next: { [unowned self] in self.device.nextActivity ?? loop.now + .seconds(3600) },
            step: { [unowned self] in live(until: $0) })
        link = SimulatedLink(loop) { [unowned self] bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            written.append(text)
            guard let text = onWrite(text) else { return }
            if case .radio(let interval) = carrier {
                loop.at(event(interval, after: loop.now)) { [unowned self] in hear(text) }
            } else {
                hear(text)
            }
        } onEnd: {
        }
    }

    private func hear(_ text: String) { device.receive(Array(text.utf8), at: loop.now) }

    private func live(until instant: Duration) {
        for emission in device.advance(to: instant) { deliver(emission.bytes) }
    }

    private func deliver(_ bytes: [UInt8]) {
        let step: Duration
        switch carrier {
        case .wire: return link.arrive(bytes)
        case .adapter(let time), .radio(let time): step = time
        }
        held += bytes
        guard !isFlushing else { return }
        isFlushing = true
        loop.at(event(step, after: loop.now)) { [unowned self] in flush(step) }
    }

    private func flush(_ step: Duration) {
        isFlushing = false
        guard case .radio = carrier else {
            link.arrive(held)
            held = []
            return
        }
        link.arrive(Array(held.prefix(20)))
        held = Array(held.dropFirst(20))
        if !held.isEmpty { deliver([]) }
    }

    /// The next multiple of an interval after a time.
    private func event(_ interval: Duration, after time: Duration) -> Duration {
        interval * (Int(time / interval) + 1)
    }

    /// The record of a measurement, or the error that ended it.
    struct Outcome {
        var record: LatencyRecord?
        var error: (any Error)?
        var ending: SimulatedLoop.Ending
    }

    func measure(_ question: LatencyQuestion, count: Int, seed: UInt64 = 1) -> Outcome {
        var random = SplitMix64(seed: seed)
        return measure(
            question, pauses: QuestionPauses.make(count: count, interval: .milliseconds(150), using: &random))
    }

    func measure(_ question: LatencyQuestion, pauses: [Duration]) -> Outcome {
        let box = Box()
        box.ending = loop.run(limit: .seconds(2000)) { [unowned self] in
            let measurement = LatencyMeasurement(
                question, over: link, clock: SimulatedClock(loop: loop), pauses: pauses)
            do { box.record = try await measurement.run() } catch { box.error = error }
        }
        return Outcome(record: box.record, error: box.error, ending: box.ending)
    }

    private final class Box: @unchecked Sendable {
        // @unchecked: used on the loop's thread only.
        var record: LatencyRecord?
        var error: (any Error)?
        var ending = SimulatedLoop.Ending.done
    }
}
