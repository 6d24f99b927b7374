/// The device's output, unit by unit, and the effects of faults on it.
extension FaultyDevice {
    /// Applies faults to output of the device on its line, and queues the result for the host.
    mutating func say(_ bytes: [UInt8], at time: Duration) {
        for byte in bytes where time >= silentUntil {
            if said.bytes.isEmpty { beginUnit(at: time) }
            let isLast = said.endsLine(byte)
            var arriving = [byte]
            guard fall(on: &arriving, isLast: isLast, at: time) else { return }
            deliver(arriving, at: time, by: nil)
            said.append(byte)
            if isLast { endUnit(at: time, by: nil) }
            if Device.commandFraming == .objects { endObject(byte, arriving, at: time) }
        }
    }

    /// Applies faults to a notification of the device, and queues the result for the host, in several pieces if the
    /// fault `split` falls in the notification.
    mutating func notify(_ emission: Emission, at time: Duration) {
        guard time >= silentUntil else { return }
        beginUnit(at: time, bytes: emission.bytes)
        var pieces: [[UInt8]] = [[]]
        for (index, byte) in emission.bytes.enumerated() {
            var arriving = [byte]
            let held = heldUntil
            guard fall(on: &arriving, isLast: index + 1 == emission.bytes.count, at: time) else { return }
            if heldUntil != held, index > 0 {
                deliver(pieces.removeLast(), at: time, by: emission.output, until: held)
                pieces.append([])
            }
            pieces[pieces.count - 1] += arriving
            said.append(byte)
        }
        for piece in pieces { deliver(piece, at: time, by: emission.output) }
        endUnit(at: time, by: emission.output)
    }

    /// Begins a unit of output for the faults and the script.
    ///
    /// - Parameter bytes: The whole unit; nil if the unit is known only at its end.
    private mutating func beginUnit(at time: Duration, bytes: [UInt8]? = nil) {
        said = FaultyUnit()
        for index in faults.indices where !faults[index].order.fault.effect.isOfCommands {
            faults[index].beginUnit(at: time, bytes: bytes)
        }
        script.beginUnit(at: time)
    }

    private mutating func endUnit(at time: Duration, by output: UInt128?) {
        let unit = said
        said = FaultyUnit()
        if unit.isRepeated {
            if output == nil, Device.commandFraming == .objects {
                object.isRepeated = true
            } else {
                deliver(unit.delivered, at: time, by: output, isRepetition: true)
            }
        }
        script.endUnit(unit.bytes)
    }

    /// Delivers a whole object again if a fault repeats a unit of it. A repeated unit alone would damage the object.
    private mutating func endObject(_ byte: UInt8, _ arriving: [UInt8], at time: Duration) {
        guard object.append(byte, arriving: arriving), object.isRepeated else { return }
        object.isRepeated = false
        deliver(object.delivered, at: time, by: nil, isRepetition: true)
    }

    /// Sends the last reply again, if a fault repeats the reply and the device has finished it.
    mutating func repeatReply() {
        guard let reply, !reply.isEmpty, device.isQuiescent else { return }
        self.reply = nil
        for emission in reply { deliver(emission.bytes, at: now, by: emission.output, isRepetition: true) }
    }

    /// Sends random bytes, if the device has the fault `noise` with the occasion `start`. Over BLE, the bytes stand for
    /// noise on a module's UART, of which one notification arrives.
    mutating func makeNoise(by output: UInt128?) {
        for index in faults.indices {
            let order = faults[index].order
            guard order.occasion == .start, order.fault.effect == .noise else { continue }
            let noise = noise(index)
            let length = output == nil ? noise.count : ModuleFirmware.packetLength
            deliver(Array(noise.prefix(length)), at: now, by: output)
        }
    }

    private mutating func noise(_ index: Int) -> [UInt8] {
        (0...faults[index].number(below: 32)).map { _ in UInt8(faults[index].number(below: 256)) }
    }

    /// Applies faults to the next byte of a unit.
    ///
    /// - Parameter arriving: The byte; on return, the bytes to deliver in its place.
    /// - Returns: `false` if a fault ends the output before the byte.
    private mutating func fall(on arriving: inout [UInt8], isLast: Bool, at time: Duration) -> Bool {
        let byte = arriving[0]
        for index in faults.indices where !faults[index].order.fault.effect.isOfCommands {
            guard faults[index].falls(on: byte, of: said, isLast: isLast) else { continue }
            let order = faults[index].order
            switch order.fault.effect {
            case .pause: heldUntil = max(heldUntil, time + order.time)
            case .gather: if heldUntil <= time { heldUntil = time + order.time }
            case .loseByte: arriving = []
            case .loseUnit: said.isLost = true
            case .repeatUnit: said.isRepeated = true
            case .flipBit:
                let bit = UInt8(1) << faults[index].number(below: 8)
                if !arriving.isEmpty { arriving[0] ^= bit }
            case .noise: arriving = noise(index) + arriving
            case .trickle: said.spacing = order.time
            case .silence:
                fallSilent(for: order.time, from: time)
                return false
            case .unplug:
                fallSilent(for: order.time, from: time)
                unplug(at: time, until: silentUntil)
                return false
            case .loseRadio:
                fallSilent(for: order.time, from: time)
                carrier.add(.hangUp, at: silentUntil)
                return false
            case .stick: device.setStuck(true, at: clock.inside(now))
            case .reset:
                reset(at: now)
                return false
            case .overrun, .repeatReply, .hangUp, .drift, .garble, .notifyEarly: break
            }
        }
        return true
    }

    /// Begins a silence, and forgets the unit, object and reply that the silence cuts off.
    private mutating func fallSilent(for time: Duration, from instant: Duration) {
        silentUntil = instant + time
        (said, reply) = (FaultyUnit(), nil)
        object = FaultyObject()
    }

    /// Queues bytes for the host.
    ///
    /// - Parameters:
    ///   - hold: The earliest time of arrival; nil for `heldUntil`.
    ///   - isRepetition: Whether a fault repeats bytes that were already sent.
    mutating func deliver(
        _ bytes: [UInt8], at time: Duration, by output: UInt128?, until hold: Duration? = nil,
        isRepetition: Bool = false
    ) {
        guard !bytes.isEmpty, !said.isLost else { return }
        said.delivered += bytes
        if reply != nil { reply?.append(Emission(bytes: bytes, time: time, output: output)) }
        if let output { carrier.lastNotified[output] = bytes }
        var arrival = max(time, lastArrival, hold ?? heldUntil)
        if let spacing = said.spacing { arrival = max(arrival, lastArrival + spacing) }
        lastArrival = arrival
        var emission = Emission(bytes: bytes, time: arrival, output: output)
        emission.isRepetition = isRepetition
        let last = pending.indices.last
        if output == nil, let last, pending[last].joins(emission) {
            pending[last].bytes += bytes
        } else {
            pending.append(emission)
        }
    }
}

extension Emission {
    /// Returns whether another emission arrives together with this one.
    fileprivate func joins(_ other: Emission) -> Bool {
        output == other.output && time == other.time && isRepetition == other.isRepetition
    }
}
